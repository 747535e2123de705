"""Answers who can read the place of a scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import discord

from bot.errors import PostingError
from bot.posting.discord_errors import REQUEST_ERRORS, Code, explain_discord_error

if TYPE_CHECKING:
    from bot.scenes.scene import Place


_NOT_THERE: Final = (Code.UNKNOWN_MEMBER, Code.UNKNOWN_USER)


@dataclass(frozen=True, slots=True)
class ChannelAccess:
    """Checks people's access to channels and threads.

    Aside has no members intent, so no cache of members and no list of a thread's members. Each
    answer takes a request to Discord and is true at that moment.
    """

    client: discord.Client

    async def can_read(self, place: Place, user_id: int) -> bool:
        """Return whether a user is on the server and can read the place.

        A private thread can be read by its members and by people who may manage threads. Raises
        PostingError if the bot is not on the server, and discord.py's errors, also if the place was
        deleted. The answer is open then.
        """
        guild = self.client.get_guild(place.guild_id)
        if guild is None:
            raise PostingError("I am not a member of this server any more.")
        try:
            member = await guild.fetch_member(user_id)
            channel = await self.find_channel(place.webhook_channel_id)
            if not isinstance(channel, discord.abc.GuildChannel):
                raise PostingError("The scene's channel can't be found.")
            granted = channel.permissions_for(member)
            if not granted.view_channel:
                return False
            if place.parent_id is None or granted.manage_threads:
                return True
            thread = await self.find_channel(place.channel_id)
            if isinstance(thread, discord.Thread) and thread.is_private():
                await thread.fetch_member(user_id)
        except discord.NotFound as error:
            if error.code not in _NOT_THERE:
                raise
            return False
        return True

    async def is_reader(self, place: Place, user_id: int) -> bool:
        """Return the same as `can_read`, but raise PostingError instead of discord.py's errors."""
        try:
            return await self.can_read(place, user_id)
        except REQUEST_ERRORS as error:
            raise explain_discord_error(error, "this channel", ()) from error

    async def find_channel(self, channel_id: int) -> object:
        """Return a channel or thread from the cache or from Discord.

        Raises discord.py's errors.
        """
        return self.client.get_channel(channel_id) or await self.client.fetch_channel(channel_id)
