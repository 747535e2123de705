"""A grammar (GBNF) and its state within one reply."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any

import llama_cpp as lib

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.candidates import Candidates
    from bot.engine.local.llama import Model


class GrammarError(Exception):
    """The grammar cannot be parsed, or allows no token."""


class Grammar:
    """A grammar and its state within one reply."""

    def __init__(self, model: Model, text: str) -> None:
        self._sampler: Any = lib.llama_sampler_init_grammar(
            model.vocabulary, text.encode(), b"root"
        )
        if not self._sampler:
            raise GrammarError("it cannot be parsed")
        self._one: Any = lib.llama_token_data(0, 0.0, 0.0)
        self._array = ctypes.pointer(
            lib.llama_token_data_array(ctypes.pointer(self._one), 1, -1, False)
        )

    def allows(self, token: int) -> bool:
        """Return whether `token` may come next."""
        return self._allows(self._sampler, token)

    def allows_all(self, tokens: Sequence[int]) -> bool:
        """Return whether `tokens` may come next, in this order."""
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
        """Remove the candidates that may not come next. Return whether any are left."""
        candidates.apply(self._sampler)
        return candidates.drop_impossible()

    def accept(self, token: int) -> None:
        """Advance by `token`. It must be allowed, or llama.cpp aborts."""
        lib.llama_sampler_accept(self._sampler, token)

    def free(self) -> None:
        """Release the memory."""
        lib.llama_sampler_free(self._sampler)

    def _allows(self, sampler: Any, token: int) -> bool:
        self._one.id, self._one.logit = token, 0.0
        lib.llama_sampler_apply(sampler, self._array)
        return math.isfinite(self._one.logit)
