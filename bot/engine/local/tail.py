"""Leaves out tokens that have no chance, before native samplers look at them.

Over a whole vocabulary those take a millisecond or two, over the few tokens that can be drawn next to nothing. Nothing
is left out here that they would keep, so that a seed draws the same tokens as without it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from bot.engine.protocol import Sampling

Candidates: TypeAlias = np.ndarray[tuple[int], np.dtype[np.void]]
Logits: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]
Tokens: TypeAlias = np.ndarray[tuple[int], np.dtype[np.integer[Any]]]

CANDIDATE: Final = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
# Logits below the best one from which tokens have no chance worth counting. Where the tail is cut anyway, less of it
# need be looked at.
_REACH: Final = 20.0
_REACH_CUT: Final = 12.0
_LOWERED: Final = 3.0  # by how much penalties usually lower the best logit, at most; where by more, it is looked again


class Tail:
    """What may be left out with these samplers: whatever is further below the best logit than `cut`, once those that
    repeat what was said have been lowered; `reach` is how far to look before."""

    def __init__(self, sampling: Sampling) -> None:
        self._top_k = sampling.top_k
        self._top_p = sampling.top_p
        if sampling.min_p > 0.0 and sampling.top_p >= 1.0 and not sampling.top_k:
            self.cut = -math.log(sampling.min_p)  # what min-p keeps follows from the best logit alone
        elif sampling.top_p < 1.0 or sampling.top_k > 0:
            self.cut = _REACH_CUT
        else:
            self.cut = _REACH * max(1.0, sampling.temperature)
        penalised = sampling.repeat_penalty != 1.0 or sampling.dry > 0
        self.reach = self.cut + (_LOWERED if penalised else 0.0)

    @property
    def cuts_nucleus(self) -> bool:
        """Whether `kept` does all that top-p does, so that no native sampler has to."""
        return self._top_p < 1.0 and not self._top_k

    def kept(self, logits: Logits) -> Tokens | None:
        """Places of those of `logits` that top-k or top-p keep, the likeliest first; None: all, as they are.

        They have had their penalties.
        """
        if 0 < self._top_k < len(logits):
            least = np.partition(logits, -self._top_k)[-self._top_k]
        elif self.cuts_nucleus:
            least = _least_of_nucleus(logits, self._top_p)
        else:
            return None
        places = np.flatnonzero(logits >= least)
        return places[np.argsort(-logits[places], kind="stable")]


def _least_of_nucleus(logits: Logits, top_p: float) -> float:
    """The lowest of the highest logits that together have a probability of `top_p`."""
    falling = np.sort(logits)[::-1]
    reached = np.cumsum(np.exp(falling - falling[0]))
    last = int(np.searchsorted(reached, top_p * reached[-1]))
    return float(falling[min(last, len(falling) - 1)])
