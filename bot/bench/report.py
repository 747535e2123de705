"""Results of the benchmarks. Figures are medians, and other programs can read them as JSON."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, TypeAlias

from pydantic import BaseModel, ConfigDict, computed_field

if TYPE_CHECKING:
    from collections.abc import Iterable

OURS = "aside"
BARE = "bare llama_decode"
BATCHED = "llama-batched-bench"
SERVER = "llama-server"
ALONE = "Llama, sequential"

_Candidate: TypeAlias = "tuple[str, float, bool, float | None]"
"""A target as `Target` has it: what, wanted, at_most, and its measurement if any."""


class Written(BaseModel):
    """Generation speed in one turn, in tokens per second.

    The programs take turns, so that the same turn of two of them had the same machine load.
    """

    model_config = ConfigDict(frozen=True)

    one: float | None = None  # one stream
    many: float | None = None  # all streams together
    held: float | None = None  # all streams together, constrained by HER's grammar


class Figures(BaseModel):
    """Results of one program. Figures that it cannot produce are missing."""

    model_config = ConfigDict(frozen=True)

    name: str
    written: tuple[Written, ...] = ()  # by turn
    streams: int = 0
    answer_many: float | None = None
    """Tokens per second of simultaneous requests, from the first request to the last token."""

    read: float | None = None  # prompt tokens prefilled per second
    first_word: float | None = None  # seconds from a new prompt to the first text
    return_new: int | None = None  # new prompt tokens when a mind returns
    return_read: int | None = None  # prompt tokens that were prefilled then
    return_stored: float | None = None
    """Time to restore a mind from main memory, relative to prefilling its prompt."""

    rotation: float | None = None
    """Seconds for one reply in each of `streams` scenes with long histories."""

    @computed_field  # type: ignore[prop-decorator] # mypy does not support decorated properties
    @property
    def write_one(self) -> float | None:
        """Median tokens per second of one stream."""
        return median([turn.one for turn in self.written])

    @computed_field  # type: ignore[prop-decorator] # the same
    @property
    def write_many(self) -> float | None:
        """Median tokens per second of all streams together."""
        return median([turn.many for turn in self.written])

    @computed_field  # type: ignore[prop-decorator] # the same
    @property
    def write_held(self) -> float | None:
        """Median tokens per second of all streams together, constrained by HER's grammar."""
        return median([turn.held for turn in self.written])


class Target(BaseModel):
    """A performance target and the measured value."""

    model_config = ConfigDict(frozen=True)

    what: str
    wanted: float
    measured: float
    at_most: bool = False  # whether `wanted` is an upper limit instead of a lower one

    @computed_field  # type: ignore[prop-decorator] # mypy does not support decorated properties
    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.measured <= self.wanted if self.at_most else self.measured >= self.wanted

    def __str__(self) -> str:
        limit = "at most" if self.at_most else "at least"
        return f"{self.what}: {self.measured:.3g} (target: {limit} {self.wanted:g})"


class EngineReport(BaseModel):
    """Results of the local engine and of the programs it is compared with, from one run."""

    model_config = ConfigDict(frozen=True)

    model: str
    device: str
    history: int  # tokens of each scene's history in the rotation
    rounds: int
    load: float | None = None  # the system's load average at the start
    figures: tuple[Figures, ...]

    @computed_field  # type: ignore[prop-decorator] # mypy does not support decorated properties
    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets for which there are measurements."""
        candidates = (*self._list_speed_targets(), *self._list_reuse_targets())
        return tuple(
            Target(what=what, wanted=wanted, at_most=at_most, measured=measured)
            for what, wanted, at_most, measured in candidates
            if measured is not None
        )

    def _list_speed_targets(self) -> tuple[_Candidate, ...]:
        decoder = BATCHED if self._find(BATCHED).written else BARE
        streams = self._find(OURS).streams
        return (
            (
                f"Single-stream speed relative to {decoder}",
                0.97,
                False,
                self._compare_turns("one", decoder),
            ),
            (
                f"Speed of {streams} streams relative to {decoder}",
                0.93,
                False,
                self._compare_turns("many", decoder),
            ),
            (
                f"Throughput for {streams} simultaneous requests relative to {SERVER}",
                1.0,
                False,
                self.ratio("answer_many", OURS, SERVER),
            ),
            (
                f"Speed of {streams} streams with HER's grammar relative to without",
                0.97,
                False,
                self._compare_turns("held", OURS, "many"),
            ),
            (
                f"Speed of a round of {streams} scenes relative to sequential requests with Llama",
                5.0,
                False,
                self.ratio("rotation", ALONE, OURS),
            ),
        )

    def _list_reuse_targets(self) -> tuple[_Candidate, ...]:
        return (
            (
                "Tokens read for a returning character relative to its new tokens",
                1.0,
                True,
                self._compare_returning_tokens(),
            ),
            (
                "Time to restore a character from main memory relative to reading its prompt",
                0.1,
                True,
                self._get_figure(OURS, "return_stored"),
            ),
        )

    def ratio(self, figure: str, ours: str, baseline: str) -> float | None:
        """Return `ours` relative to `baseline` for one figure, or None if either lacks it."""
        one = self._get_figure(ours, figure)
        other = self._get_figure(baseline, figure)
        return one / other if one and other else None

    def _compare_turns(self, figure: str, baseline: str, other: str = "") -> float | None:
        """Return the median of our `figure` relative to the baseline's `other`, turn by turn.

        Machine load slows both down in the same turn, so that it has little effect on the ratio.
        """
        turns = zip(self._find(OURS).written, self._find(baseline).written, strict=False)
        pairs = [
            (getattr(ours, figure), getattr(theirs, other or figure)) for ours, theirs in turns
        ]
        return median([ours / theirs for ours, theirs in pairs if ours and theirs])

    def _compare_returning_tokens(self) -> float | None:
        new = self._get_figure(OURS, "return_new")
        read = self._get_figure(OURS, "return_read")
        return read / new if new and read is not None else None

    def _get_figure(self, name: str, figure: str) -> float | None:
        value: float | None = getattr(self._find(name), figure)
        return value

    def _find(self, name: str) -> Figures:
        """Return the figures of a program. They are empty if it was not measured."""
        return next(
            (figures for figures in self.figures if figures.name == name), Figures(name=name)
        )


def median(values: Iterable[float | None]) -> float | None:
    """Return the median of all values but None. Return None if no value is left."""
    measured = [value for value in values if value is not None]
    return statistics.median(measured) if measured else None
