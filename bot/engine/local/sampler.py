"""Draws the next token of a reply: native sampler chains, and a grammar that is asked about what was drawn.

Asking a grammar about one token takes microseconds, about the whole vocabulary milliseconds. So a token is drawn freely
and only where the grammar refuses it are the likeliest tokens masked, and all of them where none of those will do.
"""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any

import llama_cpp as lib
import numpy as np

from bot.engine.local.candidates import Candidates
from bot.engine.local.llama import DecodeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.candidates import Logits, Tokens
    from bot.engine.local.llama import Model
    from bot.engine.protocol import Sampling

_CUT = 20.0
_CUT_OF_TAIL = 10.0  # where the tail is cut anyway, less of it counts: some thousandths even in a flat distribution
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
        self._sampler: Any = lib.llama_sampler_init_grammar(
            model.vocabulary, text.encode(), b"root"
        )
        if not self._sampler:
            raise GrammarError("the grammar doesn't parse")
        self._one: Any = lib.llama_token_data(0, 0.0, 0.0)
        self._array = ctypes.pointer(
            lib.llama_token_data_array(ctypes.pointer(self._one), 1, -1, False)
        )

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

    def mask(self, candidates: Candidates) -> bool:
        """Leave only those of `candidates` that may come next; whether any is left."""
        candidates.apply(self._sampler)
        return candidates.drop_impossible()

    def accept(self, token: int) -> None:
        """Go on by `token`, which must be allowed: llama.cpp aborts otherwise."""
        lib.llama_sampler_accept(self._sampler, token)

    def free(self) -> None:
        """Give the memory back."""
        lib.llama_sampler_free(self._sampler)

    def _allows(self, sampler: Any, token: int) -> bool:
        self._one.id, self._one.logit = token, 0.0
        lib.llama_sampler_apply(sampler, self._array)
        return math.isfinite(self._one.logit)


class Sampler:
    """Draws the tokens of one reply. `free` must be called when it has ended.

    Native samplers take milliseconds for a whole vocabulary, and next to nothing for the few tokens that have a chance.
    So those far below the best are left out before: a seed draws the same as with them, but for what they add up to.
    """

    def __init__(self, model: Model, sampling: Sampling, seed: int, grammar: str | None) -> None:
        self._grammar = Grammar(model, grammar) if grammar else None
        self._cut = _cut(sampling)
        self._dry = _dry(model, sampling)
        self._penalties = _chain([*_penalties(model, sampling), *self._dry])
        self._chain = _chain(_samplers(sampling, seed))
        self._candidates = Candidates()

    def heard(self, prompt: Sequence[int]) -> None:
        """Hold back phrases that stand in the prompt already, where phrases that repeat are held back at all. Call it
        before anything is drawn."""
        for dry in self._dry:
            for token in prompt[-_DRY_LOOKS_BACK:]:
                lib.llama_sampler_accept(dry, token)

    def next(self, logits: Logits) -> int:
        """Draw one token. Raises GrammarError where no token fits, DecodeError where `logits` are no numbers."""
        self._look_near(logits)
        self._candidates.apply(self._chain)
        token = self._candidates.drawn
        if self._grammar and not self._grammar.allows(token):
            token = self._again(self._grammar, logits)
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

    def _look_near(self, logits: Logits) -> None:
        """Have the tokens that have a chance as candidates, lowered where they repeat what was said."""
        best = float(np.maximum.reduce(logits))
        if not math.isfinite(best):
            raise DecodeError("the model's numbers are none: its file may be damaged")
        reach = self._cut
        while True:
            self._consider((logits >= best - reach).nonzero()[0], logits)
            if not self._penalties:
                return
            self._candidates.apply(self._penalties)
            needed = best - self._candidates.best + self._cut
            if needed <= reach:
                return
            reach = needed

    def _again(self, grammar: Grammar, logits: Logits) -> int:
        """Draw from what the grammar lets come next: of the likeliest tokens, or of all where none of those may."""
        likely = (
            np.argpartition(logits, -_LIKELY)[-_LIKELY:]
            if len(logits) > _LIKELY
            else np.arange(len(logits))
        )
        self._consider(likely, logits)
        if not grammar.mask(self._candidates):
            self._consider(np.arange(len(logits)), logits)
            if not grammar.mask(self._candidates):
                raise GrammarError("the grammar allows no token of this model")
        if self._penalties:
            self._candidates.apply(self._penalties)
        self._candidates.apply(self._chain)
        return self._candidates.drawn

    def _consider(self, ids: Tokens, logits: Logits) -> None:
        self._candidates.fill(ids, logits[ids])


def _cut(sampling: Sampling) -> float:
    """How far below the best logit a token has no chance worth counting.

    Heat makes all differences smaller, after the tail was cut.
    """
    if sampling.repeat_penalty < 1.0:
        return math.inf  # what was said is raised, from however far below
    if sampling.min_p > 0.0 and sampling.top_p >= 1.0 and not sampling.top_k:
        return -math.log(sampling.min_p)  # what min-p keeps follows from the best logit alone
    if sampling.top_p < 1.0 or sampling.top_k > 0:
        return _CUT_OF_TAIL * max(1.0, sampling.temperature)
    return _CUT * max(1.0, sampling.temperature)


def _penalties(model: Model, sampling: Sampling) -> list[Any]:
    """Samplers that hold back what was said before. They come first, as in llama.cpp's own order."""
    samplers = []
    if sampling.repeat_penalty != 1.0:
        samplers.append(
            lib.llama_sampler_init_penalties(
                model.size, _PENALISED, sampling.repeat_penalty, 0.0, 0.0
            )
        )
    return samplers


def _dry(model: Model, sampling: Sampling) -> list[Any]:
    """The sampler that holds back phrases that repeat, where one is asked for; it belongs to the chain it is put in."""
    if sampling.dry <= 0:
        return []
    breakers = (ctypes.c_char_p * len(_DRY_BREAKERS))(*_DRY_BREAKERS)
    return [
        lib.llama_sampler_init_dry(
            model.vocabulary,
            sampling.dry,
            _DRY_BASE,
            _DRY_LENGTH,
            _DRY_LOOKS_BACK,
            breakers,
            len(_DRY_BREAKERS),
        )
    ]


def _samplers(sampling: Sampling, seed: int) -> list[Any]:
    """What cuts the tail, then temperature, then chance."""
    if sampling.temperature <= 0:
        return [lib.llama_sampler_init_greedy()]
    samplers = []
    if sampling.top_k > 0:
        samplers.append(lib.llama_sampler_init_top_k(sampling.top_k))
    if sampling.top_p < 1.0:
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
