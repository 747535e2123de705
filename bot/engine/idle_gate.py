"""Lets idle work through only while an engine generates no reply."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from bot.errors import EngineBusy

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from bot.engine.protocol import Chunk


class IdleGate:
    """Counts the replies under way. Idle work waits until there are none, and ends at the next."""

    def __init__(self) -> None:
        self._replies = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._busy = asyncio.Event()

    @contextlib.contextmanager
    def track_reply(self) -> Iterator[None]:
        """Count a reply as under way."""
        self._replies += 1
        self._idle.clear()
        self._busy.set()
        try:
            yield
        finally:
            self._replies -= 1
            if not self._replies:
                self._busy.clear()
                self._idle.set()

    async def pass_while_idle(
        self, chunks: AsyncGenerator[Chunk, None]
    ) -> AsyncGenerator[Chunk, None]:
        """Yield the chunks of idle work once no reply is under way.

        Raises EngineBusy as soon as a reply starts. The work then stops.
        """
        await self._idle.wait()
        busy = asyncio.create_task(self._busy.wait(), name="idle work waits for a reply")
        try:
            async with contextlib.aclosing(chunks):
                while True:
                    chunk = asyncio.create_task(_next(chunks), name="idle work")
                    try:
                        await asyncio.wait((chunk, busy), return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        if not chunk.done():
                            chunk.cancel()
                            await asyncio.wait((chunk,))
                    if busy.done():
                        if not chunk.cancelled():
                            chunk.exception()  # an error of work that is not wanted any more
                        raise EngineBusy("A reply came first.")
                    if (found := chunk.result()) is None:
                        return
                    yield found
        finally:
            busy.cancel()


async def _next(chunks: AsyncGenerator[Chunk, None]) -> Chunk | None:
    return await anext(chunks, None)
