"""Waiting in tests: until something is so, never for a time."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def until(so: Callable[[], bool | Awaitable[bool]], *, within: float = 20.0) -> None:
    """Wait until `so()` holds. Raises TimeoutError where it doesn't within so many seconds."""
    async with asyncio.timeout(within):
        while True:
            answer = so()
            if await answer if inspect.isawaitable(answer) else answer:
                return
            await asyncio.sleep(0.01)
