"""The loopback's own time, and the ids made from it."""

from __future__ import annotations

import time
from datetime import UTC, datetime

DISCORD_EPOCH = 1_420_070_400_000  # the first millisecond of 2015


class Clock:
    """The system's time plus the seconds that a test has added."""

    def __init__(self, ahead: float = 0.0) -> None:
        self._added = ahead
        self._last_id = 0

    def now(self) -> float:
        """Return the seconds since 1970."""
        return time.time() + self._added

    def advance(self, seconds: float) -> None:
        """Move Discord's time forward. The bot's own timers do not notice."""
        self._added += seconds

    def snowflake(self) -> int:
        """Return a new id. Later ids are greater, and each contains its time."""
        by_time = (int(self.now() * 1000) - DISCORD_EPOCH) << 22
        self._last_id = max(by_time, self._last_id + 1)
        return self._last_id


def iso(seconds: float) -> str:
    """Return a time in Discord's format."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
