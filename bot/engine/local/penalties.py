"""Penalties on repetition: llama.cpp's repetition penalty and DRY."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import llama_cpp as lib
import numpy as np

from bot.engine.local.format_tracker import FormatTracker, breaks_prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.candidates import Candidates, Mask, Tokens
    from bot.engine.local.llama import Model
    from bot.engine.protocol import Sampling

_PENALTY_WINDOW = 64  # latest tokens that the repetition penalty considers
_DRY_BASE = 1.75  # this and the next are the defaults of DRY's author
_DRY_LENGTH = 2
_DRY_WINDOW = 1024  # latest tokens that DRY considers
_DRY_BREAKERS = (b"\n", b":", b'"', b"*")


class Penalties:
    """The repetition penalty and DRY of one reply. They leave the tokens of the format alone."""

    def __init__(self, model: Model, sampling: Sampling, speaker: str) -> None:
        self._model = model
        self._repetition = _create_repetition_penalty(model, sampling)
        self._dry = _create_dry(model, sampling)
        self._tracker = FormatTracker(speaker)
        # For each token of the vocabulary whether it breaks prose, or -1 if that is not known yet.
        self._breaks_prose = np.full(model.size, -1, np.int8)
        self._newline = model.encode("\n")[-1:] if self._dry else []

    def prime(self, prompt: Sequence[int]) -> None:
        """Make DRY, if it is on, penalise phrases of the prompt."""
        if not self._dry:
            return
        tracker = FormatTracker(None)
        for token in prompt[-_DRY_WINDOW:]:
            for prose in tracker.feed(token, self._model.piece(token)):
                self._accept_dry(prose)

    def accept(self, token: int) -> None:
        """Add a token to the reply."""
        for prose in self._tracker.feed(token, self._model.piece(token)):
            self._accept_dry(prose)
            if self._repetition and prose is not None:
                lib.llama_sampler_accept(self._repetition, prose)

    def apply(self, candidates: Candidates) -> None:
        """Change the logits of candidates that repeat earlier prose."""
        if self._tracker.inside_tag:
            return
        exempt = self._find_exempt(candidates.ids)
        for sampler in (self._repetition, self._dry):
            if sampler:
                candidates.apply_except(sampler, exempt)

    def free(self) -> None:
        """Release the memory."""
        for sampler in (self._repetition, self._dry):
            if sampler:
                lib.llama_sampler_free(sampler)

    def _accept_dry(self, prose: int | None) -> None:
        """Add a token to DRY's history. A break becomes a line break, which ends every phrase."""
        if self._dry:
            for token in self._newline if prose is None else (prose,):
                lib.llama_sampler_accept(self._dry, token)

    def _find_exempt(self, ids: Tokens) -> Mask:
        for token in ids[self._breaks_prose[ids] < 0]:
            self._breaks_prose[token] = breaks_prose(self._model.piece(int(token)))
        exempt: Mask = self._breaks_prose[ids] > 0
        if self._tracker.expects_label:
            exempt |= np.fromiter(
                (self._tracker.may_be_format(self._model.piece(int(token))) for token in ids),
                np.bool_,
                len(ids),
            )
        return exempt


def has_penalties(sampling: Sampling) -> bool:
    """Return whether the sampler settings penalise repetition."""
    return sampling.repeat_penalty != 1.0 or sampling.dry > 0


def _create_repetition_penalty(model: Model, sampling: Sampling) -> Any:
    if sampling.repeat_penalty == 1.0:
        return None
    return lib.llama_sampler_init_penalties(
        model.size, _PENALTY_WINDOW, sampling.repeat_penalty, 0.0, 0.0
    )


def _create_dry(model: Model, sampling: Sampling) -> Any:
    if sampling.dry <= 0:
        return None
    breakers = (ctypes.c_char_p * len(_DRY_BREAKERS))(*_DRY_BREAKERS)
    return lib.llama_sampler_init_dry(
        model.vocabulary,
        sampling.dry,
        _DRY_BASE,
        _DRY_LENGTH,
        _DRY_WINDOW,
        breakers,
        len(_DRY_BREAKERS),
    )
