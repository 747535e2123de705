"""The time by Discord's clock."""

from __future__ import annotations

import time
from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Final

import discord

_EVENTS: Final = 50


class DiscordClock:
    """Returns the time by Discord's clock, as far as the latest events show it.

    The ids of messages and interactions contain the time at which Discord created them. Aside
    compares those times with its own, for example to decide whether a message was written during a
    pause, and the clock of its machine may be wrong. An event arrives after its creation, so the
    least delayed of the latest events shows the difference best.
    """

    def __init__(self) -> None:
        # Differences between Discord's clock and the monotonic one, which can't be set.
        self._differences: deque[timedelta] = deque(maxlen=_EVENTS)

    def observe(self, snowflake: int) -> None:
        """Note the id of a message or an interaction that has just arrived."""
        self._differences.append(discord.utils.snowflake_time(snowflake) - _monotonic())

    def now(self) -> datetime:
        """Return the time. Before the first event it is the machine's."""
        if not self._differences:
            return datetime.now(UTC)
        return _monotonic() + max(self._differences)


def _monotonic() -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=time.monotonic())
