"""Deletes the characters' roles of scenes that have ended, however they ended."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from discord.ext import commands

from bot.errors import StoreError
from bot.posting import character_roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    import discord

    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre

_log = logging.getLogger(__name__)


class RoleStore(Protocol):
    """Knows the roles of ended scenes. Every method raises StoreError."""

    async def find_unused_roles(self, guild_id: int) -> Sequence[int]:
        """Return the ids of a server's roles that only ended scenes still have."""
        ...

    async def forget_roles(self, role_ids: Sequence[int]) -> None:
        """Store that these roles were deleted."""
        ...


class RoleCleanup(commands.Cog):
    """Deletes roles that no scene under way uses.

    It does so when a scene ends, when the bot starts, and when the bot joins a server again. A
    scene may have ended while the bot could not delete its roles.
    """

    def __init__(self, bot: commands.Bot, theatre: Theatre, store: RoleStore) -> None:
        self._bot = bot
        self._store = store
        theatre.on_end = self.delete_roles

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Delete the roles of scenes that ended while the bot was down."""
        for guild in tuple(self._bot.guilds):
            await self._delete_unused(guild)

    @commands.Cog.listener()
    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Delete the roles that are left from before the bot was removed."""
        await self._delete_unused(guild)

    @commands.Cog.listener()
    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Delete the roles of scenes that ended while the server was unavailable."""
        await self._delete_unused(guild)

    async def delete_roles(self, scene: Scene) -> None:
        """Delete the roles of an ended scene that no other scene uses."""
        if (guild := self._bot.get_guild(scene.place.guild_id)) is not None:
            await self._delete_unused(guild)

    async def _delete_unused(self, guild: discord.Guild) -> None:
        try:
            if unused := await self._store.find_unused_roles(guild.id):
                left = await character_roles.delete_roles(guild, unused)
                await self._store.forget_roles([one for one in unused if one not in left])
        except StoreError as error:
            _log.warning("Server %d: the roles of ended scenes stay: %s", guild.id, error)
