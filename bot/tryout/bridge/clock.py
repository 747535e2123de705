"""A clock that runs, where simcord's stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime
from time import perf_counter  # simcord replaces time.monotonic

from simcord._clock import Clock


class RunningClock(Clock):
    """Tells the time of day, so that messages are dated, and what is timed takes time."""

    def __init__(self) -> None:
        self._epoch = datetime.now(UTC)
        self._began = perf_counter()
        self._skipped = 0.0

    @property
    def elapsed(self) -> float:  # type: ignore[override]  # an attribute there, set by nobody but its class
        """Seconds since this clock was made."""
        return perf_counter() - self._began + self._skipped

    def advance(self, seconds: float) -> None:
        """Skip some seconds."""
        self._skipped += seconds
