"""A simulated Discord that runs continuously and only waits for the bot's immediate work."""

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
from bot.tryout.bridge.running_clock import RunningClock
from bot.tryout.bridge.simulated_webhooks import AvatarBackend, ThreadAwareWebhooks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import discord

_log = logging.getLogger(__name__)
_LONGEST_STEP = 3.0  # seconds; Discord itself waits this long for a first response
_POLL_INTERVAL = 0.1  # seconds between two checks; a bot that sleeps longer counts as idle


class LiveDiscord(Env):
    """simcord's environment for one bot, adapted from tests to people."""

    def __init__(self, bot: discord.Client) -> None:
        super().__init__(bot, check_errors=False)
        self.backend: AvatarBackend = AvatarBackend(clock=RunningClock())
        self.step = asyncio.Lock()
        """Hold this lock during every step, because simcord rejects concurrent steps."""

    @property
    def _webhook_adapter(self) -> Any:
        """Serves webhooks and responses to interactions. simcord sets it while the bot logs in."""
        return self._adapter

    @_webhook_adapter.setter
    def _webhook_adapter(self, adapter: Any) -> None:
        self._adapter = adapter and ThreadAwareWebhooks(self.backend)

    def _record_error(self, error: BaseException) -> None:
        """Log unhandled errors. The bot reports its other errors to people itself."""
        if not isinstance(error, AsideError | AppCommandError):
            _log.error("Unhandled error in the bot", exc_info=error)

    @property
    def changes(self) -> int:
        """Return a number that grows with every event on this Discord."""
        return len(self.backend.transcript)

    async def _settle_internal(
        self,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - simcord's signature
        idle: float = 0.05,
        dispatch: str | None = None,
        _deadline: float | None = None,
    ) -> None:
        """Return when the bot is idle, or when it waits and has responded to the interaction.

        Later effects appear when they happen.
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
        """Fire the bot's due timers. simcord skips those that become due while another one runs."""
        _run_due_virtual_callbacks(self._settlement_state(), math.inf)


@asynccontextmanager
async def log_in(discord: LiveDiscord) -> AsyncIterator[LiveDiscord]:
    """Log the bot in, and log it off at the end. The owner of the bot closes it."""
    await discord.start()
    try:
        with discord.time_context():
            yield discord
    finally:
        await discord.shutdown()
