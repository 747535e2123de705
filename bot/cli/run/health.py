"""Maintain a health file: touched while the gateway and the engine respond, deleted otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import math
from typing import TYPE_CHECKING

from bot.app import Aside
from bot.errors import EngineError
from bot.her.prompt import Prompt, Text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from discord.ext import commands

_CHECK_INTERVAL = 10.0  # seconds between two checks
_ENGINE_TIMEOUT = (
    30.0  # seconds for the engine to count a word, since it may be in the middle of a long step
)
_WORD = Prompt((Text("well"),))


@contextlib.asynccontextmanager
async def maintain_health_file(bot: commands.Bot, file: Path | None) -> AsyncIterator[None]:
    """Keep `file` up to date while this context lasts. Does not act if `file` is None."""
    if file is None or not isinstance(bot, Aside):
        yield
        return
    task = asyncio.create_task(_update_file(bot, file), name="health")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.to_thread(file.unlink, missing_ok=True)


async def is_healthy(bot: Aside) -> bool:
    """Return whether the gateway is connected and the engine answers within 30 seconds."""
    if not bot.is_ready() or bot.is_closed() or not math.isfinite(bot.latency):
        return False
    try:
        async with asyncio.timeout(_ENGINE_TIMEOUT):
            await bot.engine.count(_WORD)
    except (EngineError, TimeoutError):
        return False
    return True


async def _update_file(bot: Aside, file: Path) -> None:
    while True:
        if await is_healthy(bot):
            await asyncio.to_thread(file.touch)
        else:
            await asyncio.to_thread(file.unlink, missing_ok=True)
        await asyncio.sleep(_CHECK_INTERVAL)
