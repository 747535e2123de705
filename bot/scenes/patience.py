"""Waiting for Discord where it does not answer: what is to be shown is shown when it is back, and nobody asks twice."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from bot.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_log = logging.getLogger(__name__)

ATTEMPTS: Final = 120
"""How often something is tried: for about an hour."""

_LONGEST_PAUSE = 30.0  # seconds


async def patiently(show: Callable[[], Awaitable[None]], what: str) -> None:
    """Show something, once more after a pause that grows for as long as Discord does not answer.

    `what` is how the log calls it. Raises Unreachable where all of that was in vain, and at once what else `show`
    raises.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            await show()
        except Unreachable as error:
            pause = min(_LONGEST_PAUSE, 2.0**attempt)
            _log.warning("%s waits %g seconds: %s", what, pause, error)
            await asyncio.sleep(pause)
        else:
            return
    await show()
