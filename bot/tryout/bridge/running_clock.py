"""A running clock. simcord's own clock only moves when a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime
from time import perf_counter  # simcord replaces time.monotonic

from simcord._clock import Clock


class RunningClock(Clock):
    """Follows real time, so that messages have dates and timeouts take real time."""

    def __init__(self) -> None:
        self._epoch = datetime.now(UTC)
        self._began = perf_counter()
        self._skipped = 0.0

    @property
    def elapsed(self) -> float:  # type: ignore[override]  # an attribute there, set only by its class
        """Return the seconds since this clock was created."""
        return perf_counter() - self._began + self._skipped

    def advance(self, seconds: float) -> None:
        """Skip ahead by some seconds."""
        self._skipped += seconds
