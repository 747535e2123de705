"""Streaming: a reply is shown while it is being written, at the pace at which Discord takes it.

There is never more than one request under way for a reply; what settles meanwhile goes with the next. discord.py holds
a request back where Discord's answers say that the limit is reached, so nothing here knows of seconds. However many
replies are being written, showing them takes no more than a fixed share of the program's time: they grow in larger
steps then, and nobody waits for an answer.
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

SHARE: Final = 0.2
"""The most of the program's time that rendering growing replies may take, all of them together."""


class Pace:
    """Gives out the time that all streams have together, to one at a time."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def __call__(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` gives, after as much rest as its share asks for."""
        async with self._turn:
            began = time.perf_counter()
            result = work()
            await asyncio.sleep((time.perf_counter() - began) * (1 / SHARE - 1))
            return result


class LiveReply:
    """Shows one reply as it grows, in a draft that `begin` opens once there is something to show.

    The owner awaits `end`. Where a draft can't be shown, the reply comes when it is whole.
    """

    def __init__(self, pace: Pace, begin: Callable[[], Awaitable[ReplyDraft]], name: str) -> None:
        self._pace = pace
        self._begin = begin
        self._name = name
        self._draft: ReplyDraft | None = None
        self._beats: tuple[PublicBeat, ...] = ()
        self._shown: tuple[PublicBeat, ...] = ()
        self._over = False
        self._asking = False  # whether a request is under way, which must not be broken off: it may have been granted
        self._task: asyncio.Task[None] | None = None

    def tell(self, beats: tuple[PublicBeat, ...]) -> None:
        """Say what has settled so far. Costs next to nothing."""
        self._beats = beats
        if not self._over and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def end(self, patience: float | None = None) -> None:
        """Show nothing more; wait for the request that is under way, no longer than so many seconds."""
        self._over = True
        if self._task is not None:
            if not self._asking:
                self._task.cancel()
            await asyncio.wait((self._task,), timeout=patience)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        try:
            while not self._over and self._beats != self._shown:
                self._draft = self._draft or await self._begin()
                self._shown = self._beats
                await self._show(self._draft, self._beats)
        except AsideError as error:
            self._over = True
            _log.warning("%s broke off: %s", self._name, error)
        except Exception:
            self._over = True
            _log.exception("%s broke off", self._name)

    async def _show(self, draft: ReplyDraft, beats: tuple[PublicBeat, ...]) -> None:
        messages = await self._pace(lambda: draft.rendered(beats))
        if self._over:
            return
        self._asking = True
        try:
            self._over |= not await draft.show(messages)
        finally:
            self._asking = False
