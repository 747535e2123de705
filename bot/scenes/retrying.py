"""Waiting for Discord, or the database, where it does not answer: what is to be done is done when it is back."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final, TypeVar

from bot.errors import DiscordNotResponding, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")

ATTEMPTS: Final = 120
"""How often something is tried: for about an hour."""

_LONGEST_PAUSE = 30.0  # seconds


async def retry_until_done(
    attempt: Callable[[], Awaitable[_Result]],
    what: str,
    *,
    waits: Callable[[Exception], Awaitable[None]] | None = None,
) -> _Result:
    """Return what `attempt` gives, tried again after pauses that grow for as long as Discord or the database is away.

    `what` is how the log calls it; `waits` is told of the first failure. Raises Unreachable or Unstorable where all of
    that was in vain, and at once what else `attempt` raises.
    """
    for number in range(ATTEMPTS - 1):
        try:
            return await attempt()
        except (DiscordNotResponding, StoreUnavailable) as error:
            pause = min(_LONGEST_PAUSE, 2.0**number)
            _log.warning("%s waits %g seconds: %s", what, pause, error)
            if waits is not None and number == 0:
                await waits(error)
            await asyncio.sleep(pause)
    return await attempt()
