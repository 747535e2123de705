"""Decides which messages of a channel are heard, and reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import discord

from bot.scenes.director import Addressee
from cogs.message_reading import (
    find_listened_bot,
    is_personal,
    read_address,
    read_bot_line,
    read_line,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.scenes.player_lines import IncomingLine
    from bot.scenes.scene import Scene
    from cogs.proxy_bots import ProxyBots

FRESH: Final = 60.0
"""Seconds for which a proxy bot may post a message again. A deletion after that counts at once."""


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """A message that a scene hears. The author of a proxy bot's post is not known yet."""

    message: discord.Message
    line: IncomingLine
    by_proxy: bool = False
    by_bot: bool = False

    def address(self, scene: Scene) -> Addressee:
        """Return whom the message addresses. A bot addresses no one."""
        return Addressee() if self.by_bot else read_address(scene, self.message)


class IncomingMessages:
    """Reads the messages that scenes hear: people's, those of proxy bots, those of chosen bots.

    `now` returns the time by Discord's clock.
    """

    def __init__(self, proxies: ProxyBots, now: Callable[[], datetime]) -> None:
        self._proxies = proxies
        self._now = now

    async def read(self, scene: Scene | None, message: discord.Message) -> HeardMessage | None:
        """Return a message if it is heard. `scene` is the one under way in its channel, if any."""
        if is_personal(message):
            return HeardMessage(message, read_line(message))
        if await self._proxies.is_post(message):
            return HeardMessage(message, read_line(message), by_proxy=True)
        bot_id = find_listened_bot(scene, message) if scene is not None else None
        if bot_id is not None:
            return HeardMessage(message, read_bot_line(message, bot_id), by_bot=True)
        return None

    async def may_return(self, guild: discord.Guild | None, message_id: int) -> bool:
        """Return whether a proxy bot may post a message again that was deleted just now."""
        age = self._now() - discord.utils.snowflake_time(message_id)
        recent = abs(age.total_seconds()) <= FRESH
        return recent and guild is not None and await self._proxies.may_post(guild)
