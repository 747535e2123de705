"""The loopback's own time, and the ids made from it."""

from __future__ import annotations

import time
from datetime import UTC, datetime

DISCORD_EPOCH = 1_420_070_400_000  # first millisecond of 2015


class Clock:
    """The wall's time plus whatever a test has added: 15 minutes pass in no time."""

    def __init__(self, ahead: float = 0.0) -> None:
        self._added = ahead
        self._last_id = 0

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time() + self._added

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass at once, for Discord only: the bot's own timers don't notice."""
        self._added += seconds

    def snowflake(self) -> int:
        """A new id: later ones are greater, and each carries the time it was made."""
        by_time = (int(self.now() * 1000) - DISCORD_EPOCH) << 22
        self._last_id = max(by_time, self._last_id + 1)
        return self._last_id


def iso(seconds: float) -> str:
    """Discord's way to write a moment."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
