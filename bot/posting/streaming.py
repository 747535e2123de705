"""Shows replies while they are generated, at the rate that Discord accepts.

A reply has at most one request in progress. Beats that settle meanwhile go into the next request.
discord.py delays a request if the rate limit is reached, so no code here counts seconds. Rendering
all growing replies takes at most a fixed share of the program's time. If many replies grow at once,
each grows in larger steps.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final, TypeVar

from bot.errors import AsideError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.her.beats import PublicBeat
    from bot.posting.reply_draft import ReplyDraft

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")

MAX_TIME_SHARE: Final = 0.2
"""The share of the program's time, 0 to 1, that rendering all growing replies may take."""


class RenderQueue:
    """Runs the rendering of all streams one at a time, with pauses that keep to the share."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Return the result of `work` after the pause that it costs."""
        async with self._lock:
            started = time.perf_counter()
            result = work()
            await asyncio.sleep((time.perf_counter() - started) * (1 / MAX_TIME_SHARE - 1))
            return result


class ReplyStream:
    """Shows one reply while it grows. Its draft is opened with the first beats.

    The owner awaits `close`. If the draft can't be shown, the reply appears when it is finished.
    """

    def __init__(
        self, queue: RenderQueue, start_draft: Callable[[], Awaitable[ReplyDraft]], name: str
    ) -> None:
        self._queue = queue
        self._start_draft = start_draft
        self._name = name
        self._draft: ReplyDraft | None = None
        self._beats: tuple[PublicBeat, ...] = ()
        self._shown: tuple[PublicBeat, ...] = ()
        self._closed = False
        self._is_requesting = False  # a request must not be cancelled: Discord may have accepted it
        self._task: asyncio.Task[None] | None = None

    def update(self, beats: tuple[PublicBeat, ...]) -> None:
        """Set the beats that have settled so far. This is cheap."""
        self._beats = beats
        if not self._closed and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def close(self, max_wait: float | None = None) -> None:
        """Stop showing beats. Wait up to `max_wait` seconds for the request in progress."""
        self._closed = True
        if self._task is not None:
            if not self._is_requesting:
                self._task.cancel()
            await asyncio.wait((self._task,), timeout=max_wait)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        try:
            while not self._closed and self._beats != self._shown:
                self._draft = self._draft or await self._start_draft()
                self._shown = self._beats
                await self._show(self._draft, self._beats)
        except AsideError as error:
            self._closed = True
            _log.warning("%s stopped: %s", self._name, error)
        except Exception:
            self._closed = True
            _log.exception("%s stopped", self._name)

    async def _show(self, draft: ReplyDraft, beats: tuple[PublicBeat, ...]) -> None:
        messages = await self._queue.run(lambda: draft.render(beats))
        if self._closed:
            return
        self._is_requesting = True
        try:
            self._closed |= not await draft.show(messages)
        finally:
            self._is_requesting = False
