"""An engine whose replies depend on the request alone, for seeds that a user has given."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.engine.protocol import PrefetchingEngine

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.protocol import Chunk, Engine, EngineInfo, Request
    from bot.her.prompt import Prompt


@dataclass(frozen=True, slots=True)
class ReproducibleEngine:
    """Marks every request to `engine` as reproducible.

    On one machine and build of llama.cpp, the same request then gives the same reply, also beside
    other replies and under load. A remote engine can only send the seed.
    """

    engine: Engine

    @property
    def info(self) -> EngineInfo:
        """The info of `engine`."""
        return self.engine.info

    async def start(self) -> None:
        """Start `engine`."""
        await self.engine.start()

    async def close(self) -> None:
        """Close `engine`."""
        await self.engine.close()

    async def count(self, prompt: Prompt) -> int:
        """Return how many tokens `prompt` has. Raises EngineError."""
        return await self.engine.count(prompt)

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream one reply. See `Engine.generate`."""
        async with aclosing(self.engine.generate(replace(request, reproducible=True))) as chunks:
            async for chunk in chunks:
                yield chunk

    def prefetch(self, mind: str, prompt: Prompt) -> None:
        """Pass a prefetch on if `engine` supports it."""
        if isinstance(self.engine, PrefetchingEngine):
            self.engine.prefetch(mind, prompt)
