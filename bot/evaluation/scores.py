"""Scores and their confidence intervals."""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_RESAMPLES: Final = 2000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its bootstrap confidence interval. `count` is the number of samples."""

    mean: float
    low: float
    high: float
    count: int


def coser_score(severities: Sequence[int], rounds: int) -> float:
    """Return the score of one dimension, 0 to 100.

    `severities` are those of the flaws found, 1 to 5 each. `rounds` counts the characters'
    messages, without the environment's: longer conversations are allowed more flaws. The formula
    is the one of CoSER's given-circumstance acting.
    """
    return max(0.0, min(100 - (sum(severities) - 0.3 * rounds) * 5, 100.0))


def estimate(
    samples: Sequence[float], *, confidence: float = 0.95, seed: int = 0
) -> Estimate | None:
    """Return the mean of `samples` with its bootstrap interval, or None without samples."""
    if not samples:
        return None
    chance = random.Random(seed)  # noqa: S311 - statistics, not security
    means = sorted(fmean(chance.choices(samples, k=len(samples))) for _ in range(_RESAMPLES))
    tail = (1 - confidence) / 2
    low = means[int(tail * _RESAMPLES)]
    high = means[min(_RESAMPLES - 1, int((1 - tail) * _RESAMPLES))]
    return Estimate(fmean(samples), low, high, len(samples))
