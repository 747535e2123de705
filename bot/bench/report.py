"""What a bench has measured. All of it is medians; a program reads it as JSON."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, computed_field

if TYPE_CHECKING:
    from collections.abc import Iterable

OURS = "aside"
BARE = "bare decode"
BATCHED = "llama-batched-bench"
SERVER = "llama-server"
ALONE = "Llama, one at a time"


class Written(BaseModel):
    """Tokens a second in one turn; sides that take turns find the machine alike, so that theirs can be compared."""

    model_config = ConfigDict(frozen=True)

    one: float | None = None  # while one stream writes
    many: float | None = None  # while all streams write, together
    held: float | None = None  # the same, held to HER's form by a grammar


class Figures(BaseModel):
    """Figures of one engine, or of a baseline, which leaves out what it can't do."""

    model_config = ConfigDict(frozen=True)

    name: str
    written: tuple[Written, ...] = ()  # turn by turn
    streams: int = 0
    answer_many: float | None = (
        None  # tokens a second of all streams from being asked to their end, together
    )
    read: float | None = None  # prompt tokens a second
    first_word: float | None = None  # seconds from a new prompt to the first text
    return_new: int | None = None  # tokens that were new when a known mind came back …
    return_read: int | None = None  # … and those that were read
    return_stored: float | None = (
        None  # seconds until a mind that had lost its place answers, of those reading takes
    )
    rotation: float | None = (
        None  # seconds for one reply of each of `streams` scenes in turn, histories and all
    )

    @computed_field  # type: ignore[prop-decorator] # mypy knows no decorated properties
    @property
    def write_one(self) -> float | None:
        """Tokens a second while one stream writes."""
        return median([turn.one for turn in self.written])

    @computed_field  # type: ignore[prop-decorator] # the same
    @property
    def write_many(self) -> float | None:
        """Tokens a second while all streams write, together."""
        return median([turn.many for turn in self.written])

    @computed_field  # type: ignore[prop-decorator] # the same
    @property
    def write_held(self) -> float | None:
        """The same, held to HER's form by a grammar."""
        return median([turn.held for turn in self.written])


class Target(BaseModel):
    """Something that was promised, and what was measured."""

    model_config = ConfigDict(frozen=True)

    what: str
    wanted: float
    measured: float
    at_most: bool = False  # whether `wanted` is the most it may be; the least otherwise

    @computed_field  # type: ignore[prop-decorator] # mypy knows no decorated properties
    @property
    def met(self) -> bool:
        """Whether what was promised holds."""
        return self.measured <= self.wanted if self.at_most else self.measured >= self.wanted

    def __str__(self) -> str:
        sign = "at most" if self.at_most else "at least"
        return f"{self.what}: {self.measured:.3g}, {sign} {self.wanted:g} wanted"


class EngineReport(BaseModel):
    """Figures of our engine and of what it is held against, in one run."""

    model_config = ConfigDict(frozen=True)

    model: str
    device: str
    history: int  # tokens of each scene's history in the rotation
    rounds: int
    load: float | None = None  # how busy the machine was when it began, as the system counts it
    figures: tuple[Figures, ...]

    @computed_field  # type: ignore[prop-decorator] # mypy knows no decorated properties
    @property
    def targets(self) -> tuple[Target, ...]:
        """What was promised of our engine, as far as it was measured."""
        bar = BATCHED if self._side(BATCHED).written else BARE
        wanted = (
            (f"one stream, of {bar}", 0.97, False, self._turn_by_turn("one", bar)),
            (f"all streams, of {bar}", 0.93, False, self._turn_by_turn("many", bar)),
            (
                f"all streams asked at once, of {SERVER}",
                1.0,
                False,
                self.ratio("answer_many", OURS, SERVER),
            ),
            (
                "all streams held to HER's form, of free ones",
                0.97,
                False,
                self._turn_by_turn("held", OURS, "many"),
            ),
            (
                "rotation, times as fast as one at a time",
                5.0,
                False,
                self.ratio("rotation", ALONE, OURS),
            ),
            ("return to a known mind, tokens read of new ones", 1.0, True, self._read_again()),
            (
                "return from main memory, of reading again",
                0.1,
                True,
                self._of(OURS, "return_stored"),
            ),
        )
        return tuple(
            Target(what=what, wanted=least, at_most=most, measured=found)
            for what, least, most, found in wanted
            if found is not None
        )

    def ratio(self, what: str, ours: str, baseline: str) -> float | None:
        """Return how many times `ours` has `baseline`'s figure `what`; None where either lacks it."""
        one, other = self._of(ours, what), self._of(baseline, what)
        return one / other if one and other else None

    def _turn_by_turn(self, what: str, baseline: str, other: str = "") -> float | None:
        """The median of our `what` over the baseline's `other` in each turn: who is slowed down then, both are."""
        pairs = zip(self._side(OURS).written, self._side(baseline).written, strict=False)
        both = [(getattr(ours, what), getattr(theirs, other or what)) for ours, theirs in pairs]
        return median([ours / theirs for ours, theirs in both if ours and theirs])

    def _read_again(self) -> float | None:
        new, read = self._of(OURS, "return_new"), self._of(OURS, "return_read")
        return read / new if new and read is not None else None

    def _of(self, name: str, what: str) -> float | None:
        found: float | None = getattr(self._side(name), what)
        return found

    def _side(self, name: str) -> Figures:
        """A side's figures; empty ones where it was not measured."""
        return next(
            (figures for figures in self.figures if figures.name == name), Figures(name=name)
        )


def median(values: Iterable[float | None]) -> float | None:
    """Return the median of what was measured; None where nothing was."""
    measured = [value for value in values if value is not None]
    return statistics.median(measured) if measured else None
