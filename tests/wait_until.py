"""Wait for a condition in a test, never for a time."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], bool | Awaitable[bool]], *, within: float = 60.0) -> None:
    """Wait until `condition()` is true. Raise TimeoutError if that takes over `within` seconds."""
    async with asyncio.timeout(within):
        while True:
            answer = condition()
            if await answer if inspect.isawaitable(answer) else answer:
                return
            await asyncio.sleep(0.01)
