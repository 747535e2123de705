"""The proxy bots of each server: bots that post people's messages again under other names."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Protocol

import discord

from bot.posting.discord_errors import REQUEST_ERRORS

if TYPE_CHECKING:
    from collections.abc import Mapping

KNOWN_PROXIES: Final[Mapping[int, str]] = {
    466378653216014359: "PluralKit",
    431544605209788416: "Tupperbox",
}
"""The proxy bots that every server starts with, by the ids of their applications."""

_CHECK_INTERVAL: Final = 600.0  # seconds between two looks for a server's proxy bots


class ProxyChoices(Protocol):
    """Stores in which way a server's proxy bots differ from the default."""

    async def proxy_choices(self, guild_id: int) -> Mapping[int, bool]:
        """Return the applications that a server allowed (True) or excluded (False)."""
        ...

    async def choose_proxy(self, guild_id: int, application_id: int, *, allowed: bool) -> None:
        """Store that an application counts as a proxy bot on a server, or does not."""
        ...


class ProxyBots:
    """Knows which applications are proxy bots on a server, and whether one of them is there.

    No proxy bot's own service is asked.
    """

    def __init__(self, store: ProxyChoices) -> None:
        self._store = store
        self._applications: dict[int, frozenset[int]] = {}  # by server
        self._present: dict[int, tuple[float, bool]] = {}  # by server: when checked, the answer

    async def list_applications(self, guild_id: int) -> frozenset[int]:
        """Return the ids of the applications that are proxy bots on a server."""
        if guild_id not in self._applications:
            choices = await self._store.proxy_choices(guild_id)
            ids = KNOWN_PROXIES.keys() | choices.keys()
            self._applications[guild_id] = frozenset(one for one in ids if choices.get(one, True))
        return self._applications[guild_id]

    async def choose(self, guild_id: int, application_id: int, *, allowed: bool) -> None:
        """Count an application as a proxy bot on a server, or stop counting it."""
        await self._store.choose_proxy(guild_id, application_id, allowed=allowed)
        self._applications.pop(guild_id, None)
        self._present.pop(guild_id, None)

    async def is_post(self, message: discord.Message) -> bool:
        """Return whether a proxy bot posted the message for a person."""
        if message.webhook_id is None or message.application_id is None or message.guild is None:
            return False
        guild_id = message.guild.id
        if message.application_id not in await self.list_applications(guild_id):
            return False
        self._present[guild_id] = (time.monotonic(), True)
        return True

    async def may_post(self, guild: discord.Guild) -> bool:
        """Return whether a proxy bot is a member of the server. In doubt, one is."""
        checked_at, present = self._present.get(guild.id, (0.0, False))
        if checked_at and time.monotonic() - checked_at < _CHECK_INTERVAL:
            return present
        present = False
        for application_id in await self.list_applications(guild.id):
            present = present or await _is_member(guild, application_id)
        self._present[guild.id] = (time.monotonic(), present)
        return present


async def _is_member(guild: discord.Guild, user_id: int) -> bool:
    """Return whether a bot is on the server. Aside has no list of members, so it asks Discord."""
    try:
        await guild.fetch_member(user_id)
    except discord.NotFound:
        return False
    except REQUEST_ERRORS:
        return True
    return True
