"""One reply on its way from the worker to who asked for it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

from bot.engine.local.worker_messages import Failed, Finished, Generated, QueuePosition, Started
from bot.engine.protocol import Chunk
from bot.errors import EngineError, PromptTooLong

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.engine.local.worker_messages import Generate
    from bot.errors import EngineDied

log = logging.getLogger(__name__)

News: TypeAlias = Started | QueuePosition | Generated | Finished | Failed


class ReplyStream:
    """A reply's order, and what has come of it so far."""

    def __init__(self, order: Generate, told_place: Callable[[int], None] | None = None) -> None:
        self.order = order
        self._told_place = told_place
        self.sent = False  # whether the worker there is knows of it
        self.over = False
        self._news: deque[Generated | Finished | Failed] = deque()
        self._something = asyncio.Event()
        self._error: EngineDied | None = None
        self._began = False
        self._shown = False
        self._tries_left = 1

    def put(self, news: News) -> None:
        """Take an event from the worker."""
        match news:
            case Started():
                self._began = True
            case QueuePosition():
                self._tell_place(news.place)
            case _:
                self._news.append(news)
                self._something.set()

    def _tell_place(self, place: int) -> None:
        try:
            if self._told_place:
                self._told_place(place)
        except Exception:  # somebody else's code, called from ours
            log.exception("What was told its place in the queue failed.")

    def survive(self, died: EngineDied) -> None:
        """The worker is gone: wait for the next one, or end with `died` where text was shown or it was tried before."""
        if self.over or not self.sent or (self._news and not isinstance(self._news[-1], Generated)):
            return  # it ended, knows nothing of the worker, or is there to its end
        self._news.clear()
        if self._shown or (self._began and not self._tries_left):
            self.fail(died)
        elif self._began:
            self._tries_left -= 1
        self.sent = self._began = False

    def fail(self, error: EngineDied) -> None:
        """End the reply."""
        if not self.over:
            self._error = error
            self._something.set()

    async def pieces(self) -> AsyncGenerator[Chunk, None]:
        """Yield the reply as it comes. Raises PromptTooLong, EngineDied or another EngineError."""
        while not self.over:
            await self._something.wait()
            if self._error:
                self.over = True
                raise self._error
            self._something.clear()
            while self._news:
                yield self._chunk(self._news.popleft())

    def _chunk(self, news: Generated | Finished | Failed) -> Chunk:
        match news:
            case Generated():
                self._shown = True
                return Chunk(news.text)
            case Finished():
                self.over = True
                return Chunk("", news.finish)
            case Failed():
                self.over = True
                raise (PromptTooLong if news.fault == "prompt" else EngineError)(news.text)
