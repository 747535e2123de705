"""Streaming: a reply is shown while it is being written, at the pace at which Discord takes it.

There is never more than one request under way for a reply; what settles meanwhile goes with the next. discord.py holds
a request back where Discord's answers say that the limit is reached, so nothing here knows of seconds.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from bot.errors import AsideError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.her.beats import PublicBeat
    from bot.posting.drafts import Draft

_log = logging.getLogger(__name__)


class Stream:
    """Shows one reply as it grows, in a draft that `begin` opens once there is something to show.

    The owner awaits `end`, or `stop`. Where a draft can't be shown, the reply comes when it is whole.
    """

    def __init__(self, begin: Callable[[], Awaitable[Draft]], name: str) -> None:
        self._begin = begin
        self._name = name
        self._draft: Draft | None = None
        self._beats: tuple[PublicBeat, ...] = ()
        self._shown: tuple[PublicBeat, ...] = ()
        self._over = False
        self._task: asyncio.Task[None] | None = None

    def tell(self, beats: tuple[PublicBeat, ...]) -> None:
        """Say what has settled so far. Costs next to nothing."""
        self._beats = beats
        if not self._over and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def end(self) -> None:
        """Show nothing more; wait for the request that is under way."""
        self._over = True
        if self._task is not None:
            await self._task

    async def stop(self) -> None:
        """Show nothing more, and break off what is under way."""
        self._over = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        try:
            while not self._over and self._beats != self._shown:
                beats = self._beats
                if self._draft is None:
                    self._draft = await self._begin()
                self._over |= not await self._draft.show(beats)
                self._shown = beats
        except AsideError as error:
            self._over = True
            _log.warning("%s broke off: %s", self._name, error)
        except Exception:
            self._over = True
            _log.exception("%s broke off", self._name)
