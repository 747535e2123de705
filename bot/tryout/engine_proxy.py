"""Keep the simulated Discord from waiting for the engine.

simcord ends a step when the bot is idle. A bot that waits for a reply is not idle, unless the wait
is declared as external. This proxy declares it and runs the engine's work outside the bot's tasks.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from bot.engine.protocol import PrefetchingEngine

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine

    from bot.engine.protocol import Chunk, Engine, EngineInfo, Request
    from bot.her.prompt import Prompt

T = TypeVar("T")
_REASON = "the model is generating"


@dataclass(frozen=True, slots=True)
class RunningReply:
    """A reply that is being generated."""

    mind: str  # as the request names it
    began: float  # by `perf_counter`

    @property
    def seconds(self) -> float:
        """Return the seconds since generation started."""
        return perf_counter() - self.began


class EngineProxy:
    """An Engine that forwards to another one without owning it.

    Create it before the bot and outside the bot's tasks.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._outside = contextvars.copy_context()
        self._numbers = itertools.count()
        self._thinking: dict[int, RunningReply] = {}
        self.external_wait: Callable[..., Awaitable[Any]] = _await_directly
        """simcord's `external_wait`, set once the simulated Discord exists."""
        self.last_took: float | None = None
        """The seconds that the last reply took."""

    @property
    def info(self) -> EngineInfo:
        """Return the model and the device of the engine."""
        return self._engine.info

    @property
    def thinking(self) -> tuple[RunningReply, ...]:
        """Return the replies that are being generated, oldest first."""
        return tuple(self._thinking.values())

    async def start(self) -> None:
        """Do not act: the engine's owner starts it."""

    async def close(self) -> None:
        """Do not act: the engine's owner closes it."""

    async def count(self, prompt: Prompt) -> int:
        """Return the number of tokens in `prompt`."""
        counting = self._run_outside_bot(self._engine.count(prompt))
        try:
            tokens: int = await self.external_wait(counting, reason=_REASON)
        finally:
            await _cancel(counting)
        return tokens

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream one reply."""
        number = next(self._numbers)
        thinking = self._thinking[number] = RunningReply(request.mind, perf_counter())
        pieces: asyncio.Queue[Chunk | Exception | None] = asyncio.Queue()
        writing = self._run_outside_bot(self._write(request, pieces))
        try:
            while (piece := await self.external_wait(pieces.get(), reason=_REASON)) is not None:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            self.last_took = thinking.seconds
            del self._thinking[number]
            await _cancel(writing)

    def prefetch(self, mind: str, prompt: Prompt) -> None:
        """Forward the expected next prompt of a mind if the engine prefetches."""
        if isinstance(self._engine, PrefetchingEngine):
            self._outside.run(self._engine.prefetch, mind, prompt)

    async def _write(
        self, request: Request, pieces: asyncio.Queue[Chunk | Exception | None]
    ) -> None:
        try:
            async with aclosing(self._engine.generate(request)) as chunks:
                async for chunk in chunks:
                    pieces.put_nowait(chunk)
        except Exception as error:  # the bot handles it
            pieces.put_nowait(error)
        else:
            pieces.put_nowait(None)

    def _run_outside_bot(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run `work` in a task outside the bot's."""
        return self._outside.run(asyncio.create_task, work)


async def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _await_directly(awaitable: Awaitable[T], *, reason: str) -> T:
    del reason
    return await awaitable
