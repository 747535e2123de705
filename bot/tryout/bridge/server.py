"""A simulated Discord that never stops: it waits for the bot only as long as the bot does something at once."""

from __future__ import annotations

import asyncio
import logging
import math
from contextlib import asynccontextmanager, suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any

from discord.app_commands import AppCommandError
from simcord._settlement import _run_due_virtual_callbacks
from simcord.env import Env

from bot.errors import AsideError
from bot.tryout.bridge.clock import RunningClock
from bot.tryout.bridge.webhooks import AvatarBackend, ThreadAwareWebhooks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import discord

_log = logging.getLogger(__name__)
_LONGEST_STEP = 3.0  # seconds: what Discord itself waits for a first answer
_POLL_INTERVAL = 0.1  # seconds from one look at whether the bot rests to the next; a longer sleep of its counts as rest


class LiveDiscord(Env):
    """simcord's environment around one bot, for people instead of tests."""

    def __init__(self, bot: discord.Client) -> None:
        super().__init__(bot, check_errors=False)
        self.backend: AvatarBackend = AvatarBackend(clock=RunningClock())
        self.step = asyncio.Lock()
        """To be held while something is done here: simcord refuses whoever comes second."""

    @property
    def _webhook_adapter(self) -> Any:
        """What serves webhooks and the answers to interactions; simcord sets it while the bot logs in."""
        return self._adapter

    @_webhook_adapter.setter
    def _webhook_adapter(self, adapter: Any) -> None:
        self._adapter = adapter and ThreadAwareWebhooks(self.backend)

    def _record_error(self, error: BaseException) -> None:
        """Leave the bot's errors to the bot, which tells people; what nobody handled goes to the log."""
        if not isinstance(error, AsideError | AppCommandError):
            _log.error("The bot failed at something", exc_info=error)

    @property
    def changes(self) -> int:
        """A number that grows whenever anything happens on this Discord."""
        return len(self.backend.transcript)

    async def _settle_internal(
        self,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - simcord's signature
        idle: float = 0.05,
        dispatch: str | None = None,
        _deadline: float | None = None,
    ) -> None:
        """Return when the bot rests, or waits for something and has answered what it was asked.

        Whatever it does later shows when it is done.
        """
        del timeout, _deadline
        end = perf_counter() + _LONGEST_STEP
        asked = (
            next(reversed(self.backend.interactions.values()), None)
            if dispatch == "INTERACTION_CREATE"
            else None
        )
        before = -1
        while perf_counter() < end and not (
            before == self.changes and (asked is None or asked.responded)
        ):
            before = self.changes
            with suppress(TimeoutError):
                await super()._settle_internal(
                    timeout=_POLL_INTERVAL, idle=min(idle, _POLL_INTERVAL), dispatch=dispatch
                )
                return

    def fire_due_timers(self) -> None:
        """Let timers of the bot's go off that are due; simcord forgets those that come due while another one does."""
        _run_due_virtual_callbacks(self._settlement_state(), math.inf)


@asynccontextmanager
async def log_in(discord: LiveDiscord) -> AsyncIterator[LiveDiscord]:
    """Have the bot of this Discord log in, and off again at the end. The bot itself is left to its owner."""
    await discord.start()
    try:
        with discord.time_context():
            yield discord
    finally:
        await discord.shutdown()
