"""What a bench has measured. All of it is medians; a program reads it as JSON."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Sequence


class Figures(BaseModel):
    """Figures of one engine, or of a baseline, which leaves out what it can't do."""

    model_config = ConfigDict(frozen=True)

    name: str
    write_one: float | None = None  # tokens a second, one stream
    write_many: float | None = None  # tokens a second, all streams together
    streams: int = 0
    read: float | None = None  # prompt tokens a second
    first_word: float | None = None  # seconds from a new prompt to the first text
    return_new: int | None = None  # tokens that were new when a known mind came back …
    return_read: int | None = None  # … and those that were read
    rotation: float | None = None  # seconds for one reply of each of `streams` scenes in turn, histories and all


class EngineReport(BaseModel):
    """Figures of our engine and of what it is held against, in one run."""

    model_config = ConfigDict(frozen=True)

    model: str
    device: str
    history: int  # tokens of each scene's history in the rotation
    rounds: int
    figures: tuple[Figures, ...]

    def ratio(self, what: str, ours: str, baseline: str) -> float | None:
        """Return how many times `ours` has `baseline`'s figure `what`; None where either lacks it."""
        by_name = {figures.name: getattr(figures, what) for figures in self.figures}
        one, other = by_name.get(ours), by_name.get(baseline)
        return one / other if one and other else None


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)
