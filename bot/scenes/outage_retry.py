"""Retries for as long as Discord or the database does not respond."""

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
"""The number of attempts, which take about an hour."""

_LONGEST_PAUSE = 30.0  # seconds


async def retry_until_done(
    attempt: Callable[[], Awaitable[_Result]],
    name: str,
    *,
    on_first_failure: Callable[[Exception], Awaitable[None]] | None = None,
) -> _Result:
    """Return the result of `attempt`. Retry it while Discord or the database does not respond.

    The pauses between attempts grow to 30 seconds. `name` names the attempt in the log. Raises
    DiscordNotResponding or StoreUnavailable if the last attempt fails too, and every other error
    of `attempt` at once.
    """
    for number in range(ATTEMPTS - 1):
        try:
            return await attempt()
        except (DiscordNotResponding, StoreUnavailable) as error:
            pause = min(_LONGEST_PAUSE, 2.0**number)
            _log.warning("%s waits %g seconds: %s", name, pause, error)
            if on_first_failure is not None and number == 0:
                await on_first_failure(error)
            await asyncio.sleep(pause)
    return await attempt()
