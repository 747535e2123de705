"""Draws the next token of a reply: native sampler chains, and a grammar that is asked about what was drawn.

Asking a grammar about one token takes microseconds, about the whole vocabulary milliseconds. So a token is drawn freely
and only where the grammar refuses it are the likeliest tokens masked, and all of them where none of those will do.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import llama_cpp as lib
import numpy as np

from bot.engine.local.tail import CANDIDATE, Tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.llama import Model
    from bot.engine.local.tail import Candidates, Logits, Tokens
    from bot.engine.protocol import Sampling

_LIKELY = 256  # tokens that are asked about before the whole vocabulary is
_PENALISED = 64  # latest tokens that the repetition penalty looks at
_DRY_BASE = 1.75  # its author's values
_DRY_LENGTH = 2
_DRY_LOOKS_BACK = 1024  # tokens
_DRY_BREAKERS = (b"\n", b":", b'"', b"*")
_LARGEST_SEED = 2**32 - 2  # llama.cpp takes the one above for "any"


class GrammarError(Exception):
    """The grammar doesn't parse, or allows no token at all."""


class Grammar:
    """The state of a grammar within one reply."""

    def __init__(self, model: Model, text: str) -> None:
        self._sampler: Any = lib.llama_sampler_init_grammar(model.vocabulary, text.encode(), b"root")
        if not self._sampler:
            raise GrammarError("the grammar doesn't parse")
        self._one = np.zeros(1, CANDIDATE)

    def allows(self, token: int) -> bool:
        """Whether `token` may come next."""
        return self._allows(self._sampler, token)

    def allows_all(self, tokens: Sequence[int]) -> bool:
        """Whether `tokens` may come next, one after the other."""
        trial = lib.llama_sampler_clone(self._sampler)
        try:
            for token in tokens:
                if not self._allows(trial, token):
                    return False
                lib.llama_sampler_accept(trial, token)
            return True
        finally:
            lib.llama_sampler_free(trial)

    def mask(self, candidates: Candidates) -> Candidates:
        """Return those of `candidates` that may come next."""
        lib.llama_sampler_apply(self._sampler, _array(candidates))
        fitting: Candidates = candidates[np.isfinite(candidates["logit"])]
        return fitting

    def accept(self, token: int) -> None:
        """Go on by `token`, which must be allowed: llama.cpp aborts otherwise."""
        lib.llama_sampler_accept(self._sampler, token)

    def free(self) -> None:
        """Give the memory back."""
        lib.llama_sampler_free(self._sampler)

    def _allows(self, sampler: Any, token: int) -> bool:
        self._one[0] = (token, 0.0, 0.0)
        lib.llama_sampler_apply(sampler, _array(self._one))
        return bool(np.isfinite(self._one["logit"][0]))


class Draw:
    """Draws the tokens of one reply. `free` must be called when it has ended."""

    def __init__(self, model: Model, sampling: Sampling, seed: int, grammar: str | None) -> None:
        self._grammar = Grammar(model, grammar) if grammar else None
        self._tail = Tail(sampling)
        self._dry = _dry(model, sampling)
        self._penalties = _chain([*_penalties(model, sampling), *self._dry])
        self._chain = _chain(_samplers(sampling, seed, top_p=not self._tail.cuts_nucleus))
        self._ids = np.arange(model.size, dtype=np.int32)

    def heard(self, prompt: Sequence[int]) -> None:
        """Hold back phrases that stand in the prompt already, where phrases that repeat are held back at all. Call it
        before anything is drawn."""
        for dry in self._dry:
            for token in prompt[-_DRY_LOOKS_BACK:]:
                lib.llama_sampler_accept(dry, token)

    def next(self, logits: Logits) -> int:
        """Draw one token. Raises GrammarError where no token fits."""
        token = self._pick(*self._near(logits))
        if self._grammar and not self._grammar.allows(token):
            token = self._again(logits)
        self.accept(token)
        return token

    def accept(self, token: int) -> None:
        """Count `token` as part of the reply, drawn here or not."""
        if self._grammar:
            self._grammar.accept(token)
        if self._penalties:
            lib.llama_sampler_accept(self._penalties, token)

    def may_write(self, tokens: Sequence[int]) -> bool:
        """Whether the grammar lets `tokens` come next."""
        return self._grammar is None or self._grammar.allows_all(tokens)

    def drop_grammar(self) -> None:
        """Go on without a grammar."""
        if self._grammar:
            self._grammar.free()
            self._grammar = None

    def free(self) -> None:
        """Give the memory back."""
        self.drop_grammar()
        if self._penalties:
            lib.llama_sampler_free(self._penalties)
        lib.llama_sampler_free(self._chain)

    def _again(self, logits: Logits) -> int:
        assert self._grammar is not None  # noqa: S101 - for the type checker
        likely = np.argpartition(logits, -_LIKELY)[-_LIKELY:] if len(logits) > _LIKELY else self._ids
        fitting = self._grammar.mask(_candidates(likely, logits[likely]))
        if not len(fitting):
            fitting = self._grammar.mask(_candidates(self._ids, logits))
        if not len(fitting):
            raise GrammarError("the grammar allows no token of this model")
        return self._pick(fitting["id"], self._penalised(logits, fitting["id"]))

    def _near(self, logits: Logits) -> tuple[Tokens, Logits]:
        """The tokens that count, and their logits with their penalties."""
        best, reach = float(logits.max()), self._tail.reach
        while True:
            ids = np.flatnonzero(logits >= best - reach)
            penalised = self._penalised(logits, ids)
            needed = best - float(penalised.max()) + self._tail.cut
            if needed <= reach:
                return ids, penalised
            reach = needed

    def _penalised(self, logits: Logits, ids: Tokens) -> Logits:
        """The logits of `ids`, lowered where they repeat what was said."""
        if not self._penalties:
            return logits[ids]
        candidates = _candidates(ids, logits[ids])
        lib.llama_sampler_apply(self._penalties, _array(candidates))
        return np.ascontiguousarray(candidates["logit"])

    def _pick(self, ids: Tokens, logits: Logits) -> int:
        """Draw one of the tokens `ids` by their logits."""
        kept = self._tail.kept(logits)
        array = _array(_candidates(ids, logits) if kept is None else _candidates(ids[kept], logits[kept]))
        lib.llama_sampler_apply(self._chain, array)
        return int(array.contents.data[array.contents.selected].id)


def _candidates(ids: Tokens, logits: Logits) -> Candidates:
    candidates = np.zeros(len(ids), CANDIDATE)
    candidates["id"] = ids
    candidates["logit"] = logits
    return candidates


def _array(candidates: Candidates) -> Any:
    """What native samplers take. It keeps `candidates` alive."""
    data = ctypes.pointer(lib.llama_token_data.from_buffer(candidates.data))
    return ctypes.pointer(lib.llama_token_data_array(data, len(candidates), -1, False))


def _penalties(model: Model, sampling: Sampling) -> list[Any]:
    """Samplers that hold back what was said before. They come first, as in llama.cpp's own order."""
    samplers = []
    if sampling.repeat_penalty != 1.0:
        samplers.append(lib.llama_sampler_init_penalties(model.size, _PENALISED, sampling.repeat_penalty, 0.0, 0.0))
    return samplers


def _dry(model: Model, sampling: Sampling) -> list[Any]:
    """The sampler that holds back phrases that repeat, where one is asked for; it belongs to the chain it is put in."""
    if sampling.dry <= 0:
        return []
    breakers = (ctypes.c_char_p * len(_DRY_BREAKERS))(*_DRY_BREAKERS)
    return [
        lib.llama_sampler_init_dry(
            model.vocabulary, sampling.dry, _DRY_BASE, _DRY_LENGTH, _DRY_LOOKS_BACK, breakers, len(_DRY_BREAKERS)
        )
    ]


def _samplers(sampling: Sampling, seed: int, *, top_p: bool) -> list[Any]:
    """What cuts the tail, then temperature, then chance. `top_p`: whether that is among it."""
    if sampling.temperature <= 0:
        return [lib.llama_sampler_init_greedy()]
    samplers = []
    if sampling.top_k > 0:
        samplers.append(lib.llama_sampler_init_top_k(sampling.top_k))
    if sampling.top_p < 1.0 and top_p:
        samplers.append(lib.llama_sampler_init_top_p(sampling.top_p, 1))
    if sampling.min_p > 0:
        samplers.append(lib.llama_sampler_init_min_p(sampling.min_p, 1))
    samplers.append(lib.llama_sampler_init_temp(sampling.temperature))
    samplers.append(lib.llama_sampler_init_dist(min(seed, _LARGEST_SEED)))
    return samplers


def _chain(samplers: Sequence[Any]) -> Any:
    """The samplers as one, which owns them; None without any."""
    if not samplers:
        return None
    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    for sampler in samplers:
        lib.llama_sampler_chain_add(chain, sampler)
    return chain
