"""Sampling of the next token: llama.cpp's sampler chains, and a grammar.

Checking one token against a grammar takes microseconds, checking the whole vocabulary takes
milliseconds. A token is therefore sampled without the grammar first. If the grammar rejects it,
the likeliest tokens are masked, and the whole vocabulary only if that leaves no token.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import llama_cpp as lib
import numpy as np

from bot.engine.local.candidates import Candidates
from bot.engine.local.grammar_state import Grammar, GrammarError
from bot.engine.local.llama import DecodeError
from bot.engine.local.penalties import Penalties, has_penalties

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.candidates import Logits, Tokens
    from bot.engine.local.llama import Model
    from bot.engine.protocol import Sampling

_LOGIT_RANGE = 20.0  # tokens further below the best one are not considered
_TRUNCATED_LOGIT_RANGE = 10.0
"""The range if top-p or top-k cuts the tail anyway. It loses a few thousandths at most, also in a
flat distribution."""
_LIKELIEST = 256  # tokens to mask before the whole vocabulary is masked
_MAX_SEED = 2**32 - 2  # llama.cpp uses a random seed for the next higher one


class Sampler:
    """Samples the tokens of one reply. Call `free` when the reply has ended.

    llama.cpp's samplers take milliseconds for a whole vocabulary, and almost no time for the few
    tokens that have a chance. Tokens far below the best one are therefore left out. With one seed
    the result is the same as with them, but for the small probability that they add up to.
    """

    def __init__(
        self,
        model: Model,
        sampling: Sampling,
        seed: int,
        grammar: str | None,
        speaker: str = "",
    ) -> None:
        self._grammar = Grammar(model, grammar) if grammar else None
        self._logit_range = _choose_logit_range(sampling)
        self._penalties = Penalties(model, sampling, speaker) if has_penalties(sampling) else None
        self._chain = _chain(_create_samplers(sampling, seed))
        self._candidates = Candidates()

    def prime(self, prompt: Sequence[int]) -> None:
        """Make DRY, if it is on, penalise phrases of the prompt. Call it before `sample`."""
        if self._penalties:
            self._penalties.prime(prompt)

    def sample(self, logits: Logits) -> int:
        """Sample one token.

        Raises GrammarError if the grammar allows no token, and DecodeError if `logits` are not
        finite numbers.
        """
        self._select_candidates(logits)
        self._candidates.apply(self._chain)
        token = self._candidates.selected
        if self._grammar and not self._grammar.allows(token):
            token = self._resample(self._grammar, logits)
        self.accept(token)
        return token

    def accept(self, token: int) -> None:
        """Add `token` to the reply, whether it was sampled here or not."""
        if self._grammar:
            self._grammar.accept(token)
        if self._penalties:
            self._penalties.accept(token)

    def allows(self, tokens: Sequence[int]) -> bool:
        """Return whether the grammar allows `tokens` to come next."""
        return self._grammar is None or self._grammar.allows_all(tokens)

    def drop_grammar(self) -> None:
        """Continue without a grammar."""
        if self._grammar:
            self._grammar.free()
            self._grammar = None

    def free(self) -> None:
        """Release the memory."""
        self.drop_grammar()
        if self._penalties:
            self._penalties.free()
        lib.llama_sampler_free(self._chain)

    def _select_candidates(self, logits: Logits) -> None:
        """Fill the candidates with the tokens that have a chance, and apply the penalties."""
        best = float(np.maximum.reduce(logits))
        if not math.isfinite(best):
            raise DecodeError("the model computes no valid numbers. Its file may be damaged")
        reach = self._logit_range
        while True:
            self._load((logits >= best - reach).nonzero()[0], logits)
            if not self._penalties:
                return
            self._penalties.apply(self._candidates)
            needed = best - self._candidates.max_logit + self._logit_range
            if needed <= reach:
                return
            reach = needed

    def _resample(self, grammar: Grammar, logits: Logits) -> int:
        """Sample among the allowed tokens. Try the likeliest ones before all others."""
        likeliest = (
            np.argpartition(logits, -_LIKELIEST)[-_LIKELIEST:]
            if len(logits) > _LIKELIEST
            else np.arange(len(logits))
        )
        self._load(likeliest, logits)
        if not grammar.mask(self._candidates):
            self._load(np.arange(len(logits)), logits)
            if not grammar.mask(self._candidates):
                raise GrammarError("it allows no token of this model")
        if self._penalties:
            self._penalties.apply(self._candidates)
        self._candidates.apply(self._chain)
        return self._candidates.selected

    def _load(self, ids: Tokens, logits: Logits) -> None:
        self._candidates.fill(ids, logits[ids])


def _choose_logit_range(sampling: Sampling) -> float:
    """Return how far below the best logit a token has a chance that matters.

    A high temperature makes the differences smaller, after the tail was cut.
    """
    if sampling.repeat_penalty < 1.0:
        return math.inf  # repetition is rewarded, which can raise a token from anywhere
    if sampling.min_p > 0.0 and sampling.top_p >= 1.0 and not sampling.top_k:
        return -math.log(sampling.min_p)  # min-p depends on the best logit alone
    if sampling.top_p < 1.0 or sampling.top_k > 0:
        return _TRUNCATED_LOGIT_RANGE * max(1.0, sampling.temperature)
    return _LOGIT_RANGE * max(1.0, sampling.temperature)


def _create_samplers(sampling: Sampling, seed: int) -> list[Any]:
    """Return the samplers that cut the tail, then temperature, then the random choice."""
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
    samplers.append(lib.llama_sampler_init_dist(min(seed, _MAX_SEED)))
    return samplers


def _chain(samplers: Sequence[Any]) -> Any:
    """Return a chain that owns the samplers, or None without samplers."""
    if not samplers:
        return None
    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    for sampler in samplers:
        lib.llama_sampler_chain_add(chain, sampler)
    return chain
