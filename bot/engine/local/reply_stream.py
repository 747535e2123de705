"""The stream of one reply, from the worker's events to the caller."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Final, TypeAlias

from bot.engine.local.worker_messages import Failed, Finished, Generated, QueuePosition, Started
from bot.engine.protocol import Chunk
from bot.errors import EngineBusy, EngineError, PromptTooLong

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.engine.local.worker_messages import Generate
    from bot.errors import EngineDied

log = logging.getLogger(__name__)

ReplyEvent: TypeAlias = Started | QueuePosition | Generated | Finished | Failed


_ERRORS: Final = {"prompt": PromptTooLong, "busy": EngineBusy, "other": EngineError}


class WorkerReply:
    """The command for a reply, and the events received for it so far."""

    def __init__(
        self, command: Generate, on_queue_position: Callable[[int], None] | None = None
    ) -> None:
        self.command = command
        self.sent = False  # whether the current worker has received the command
        self.ended = False
        self._on_queue_position = on_queue_position
        self._events: deque[Generated | Finished | Failed] = deque()
        self._wake_up = asyncio.Event()
        self._error: EngineDied | None = None
        self._started = False
        self._has_output = False
        self._retries_left = 1

    def receive(self, event: ReplyEvent) -> None:
        """Process an event from the worker."""
        match event:
            case Started():
                self._started = True
            case QueuePosition():
                self._report_position(event.position)
            case _:
                self._events.append(event)
                self._wake_up.set()

    def handle_worker_exit(self, died: EngineDied) -> None:
        """Prepare for the next worker, or end with `died`.

        The reply ends if text of it was already shown, or if it was retried before.
        """
        complete = bool(self._events) and not isinstance(self._events[-1], Generated)
        if self.ended or not self.sent or complete:
            return
        self._events.clear()
        if self._has_output or (self._started and not self._retries_left):
            self.fail(died)
        elif self._started:
            self._retries_left -= 1
        self.sent = self._started = False

    def fail(self, error: EngineDied) -> None:
        """End the reply with an error."""
        if not self.ended:
            self._error = error
            self._wake_up.set()

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        """Yield the reply. Raises PromptTooLong, EngineBusy, EngineDied or another EngineError."""
        while not self.ended:
            await self._wake_up.wait()
            if self._error:
                self.ended = True
                raise self._error
            self._wake_up.clear()
            while self._events:
                yield self._to_chunk(self._events.popleft())

    def _report_position(self, position: int) -> None:
        if not self._on_queue_position:
            return
        try:
            self._on_queue_position(position)
        except Exception:  # the callback belongs to the caller and may raise anything
            log.exception("The callback for the queue position failed.")

    def _to_chunk(self, event: Generated | Finished | Failed) -> Chunk:
        match event:
            case Generated():
                self._has_output = True
                return Chunk(event.text)
            case Finished():
                self.ended = True
                return Chunk("", event.finish)
            case Failed():
                self.ended = True
                raise _ERRORS[event.fault](event.text)
