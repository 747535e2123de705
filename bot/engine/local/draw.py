"""Draws the next token of a reply: native sampler chains, and a grammar that is asked about what was drawn.

Asking a grammar about one token takes microseconds, about the whole vocabulary milliseconds. So a token is drawn freely
and only where the grammar refuses it are the likeliest tokens masked, and all of them where none of those will do.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, TypeAlias

import llama_cpp as lib
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.llama import Model
    from bot.engine.protocol import Sampling

Candidates: TypeAlias = np.ndarray[tuple[int], np.dtype[np.void]]
Logits: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]
Tokens: TypeAlias = np.ndarray[tuple[int], np.dtype[np.integer[Any]]]

_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
# Logits below the best one from which tokens have no chance worth counting. Over a whole vocabulary native samplers
# take a millisecond or two, over what is left a tenth. Where the tail is cut anyway, less of it need be looked at.
_REACH = 20.0
_REACH_CUT = 12.0
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
        self._one = np.zeros(1, _CANDIDATE)

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
        self._chain = _chain(model, sampling, seed)
        self._ids = np.arange(model.size, dtype=np.int32)
        cut = sampling.top_p < 1.0 or sampling.min_p > 0.0 or sampling.top_k > 0
        self._reach = _REACH_CUT if cut else _REACH * max(1.0, sampling.temperature)

    def next(self, logits: Logits) -> int:
        """Draw one token. Raises GrammarError where no token fits."""
        token = self._pick(self._candidates(logits, np.flatnonzero(logits > logits.max() - self._reach)))
        if self._grammar and not self._grammar.allows(token):
            token = self._again(logits)
        self.accept(token)
        return token

    def accept(self, token: int) -> None:
        """Count `token` as part of the reply, drawn here or not."""
        if self._grammar:
            self._grammar.accept(token)
        lib.llama_sampler_accept(self._chain, token)

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
        lib.llama_sampler_free(self._chain)

    def _again(self, logits: Logits) -> int:
        assert self._grammar is not None  # noqa: S101 - for the type checker
        likely = np.argpartition(logits, -_LIKELY)[-_LIKELY:] if len(logits) > _LIKELY else self._ids
        fitting = self._grammar.mask(self._candidates(logits, likely))
        if not len(fitting):
            fitting = self._grammar.mask(self._candidates(logits))
        if not len(fitting):
            raise GrammarError("the grammar allows no token of this model")
        return self._pick(np.ascontiguousarray(fitting))

    def _candidates(self, logits: Logits, ids: Tokens | None = None) -> Candidates:
        candidates = np.zeros(len(logits) if ids is None else len(ids), _CANDIDATE)
        candidates["id"] = self._ids if ids is None else ids
        candidates["logit"] = logits if ids is None else logits[ids]
        return candidates

    def _pick(self, candidates: Candidates) -> int:
        array = _array(candidates)
        lib.llama_sampler_apply(self._chain, array)
        return int(array.contents.data[array.contents.selected].id)


def _array(candidates: Candidates) -> Any:
    data = candidates.ctypes.data_as(ctypes.POINTER(lib.llama_token_data))
    return ctypes.pointer(lib.llama_token_data_array(data, len(candidates), -1, False))


def _chain(model: Model, sampling: Sampling, seed: int) -> Any:
    """llama.cpp's own order: penalties, then what cuts the tail, then temperature, then chance."""
    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    samplers = []
    if sampling.repeat_penalty != 1.0:
        samplers.append(lib.llama_sampler_init_penalties(model.size, _PENALISED, sampling.repeat_penalty, 0.0, 0.0))
    if sampling.dry > 0:
        breakers = (ctypes.c_char_p * len(_DRY_BREAKERS))(*_DRY_BREAKERS)
        samplers.append(
            lib.llama_sampler_init_dry(
                model.vocabulary, sampling.dry, _DRY_BASE, _DRY_LENGTH, _DRY_LOOKS_BACK, breakers, len(_DRY_BREAKERS)
            )
        )
    if sampling.temperature <= 0:
        samplers.append(lib.llama_sampler_init_greedy())
    else:
        if sampling.top_k > 0:
            samplers.append(lib.llama_sampler_init_top_k(sampling.top_k))
        if sampling.top_p < 1.0:
            samplers.append(lib.llama_sampler_init_top_p(sampling.top_p, 1))
        if sampling.min_p > 0:
            samplers.append(lib.llama_sampler_init_min_p(sampling.min_p, 1))
        samplers.append(lib.llama_sampler_init_temp(sampling.temperature))
        samplers.append(lib.llama_sampler_init_dist(min(seed, _LARGEST_SEED)))
    for sampler in samplers:
        lib.llama_sampler_chain_add(chain, sampler)
    return chain
