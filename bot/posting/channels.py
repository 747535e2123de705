"""The channels and threads that scenes play in: how they are called, woken, and written to by the bot itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import discord

from bot.posting.discord_errors import REQUEST_ERRORS, Code, posting_error
from bot.posting.permissions import missing_permission

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.errors import PostingError
    from bot.scenes.scene import Place

NO_MENTIONS: Final = discord.AllowedMentions.none()

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Channels:
    """Reaches the places of scenes. A place needs to be in no cache for it."""

    client: discord.Client

    def at(self, place: Place) -> discord.PartialMessageable:
        """Return the channel or thread of a place."""
        return self.client.get_partial_messageable(place.channel_id, guild_id=place.guild_id)

    def name(self, place: Place) -> str:
        """Return how people call a place."""
        name = getattr(self.client.get_channel(place.channel_id), "name", None)
        return f"#{name}" if name else "this channel"

    async def say(
        self,
        place: Place,
        text: str | None = None,
        *,
        embed: discord.Embed | None = None,
        view: discord.ui.View | None = None,
    ) -> discord.Message:
        """Post a message of the bot's own. Raises PostingError."""
        extras: dict[str, Any] = {
            "embed": embed,
            "view": view,
        }  # discord.py's overloads know no optional ones

        async def send() -> discord.Message:
            return await self.at(place).send(text, **extras, allowed_mentions=NO_MENTIONS)

        try:
            return await self.awake(place, send)
        except REQUEST_ERRORS as error:
            raise self.posting_error(place, error, *(("Embed Links",) if embed else ())) from error

    async def remove(self, place: Place, message_id: int) -> None:
        """Take a message away: one of the bot's own, or with Manage Messages any. Raises what discord.py raises."""
        await self.awake(place, self.at(place).get_partial_message(message_id).delete)

    async def awake(self, place: Place, attempt: Callable[[], Awaitable[_Result]]) -> _Result:
        """Return what `attempt` gives. Where it meets an archived thread, the thread is woken for a second one."""
        try:
            return await attempt()
        except discord.HTTPException as error:
            if error.code != Code.THREAD_ARCHIVED:
                raise
        await self._wake(place)
        return await attempt()

    def posting_error(self, place: Place, error: Exception, *needed: str) -> PostingError:
        """Return what people are told of an error met when posting in a place."""
        sending = "Send Messages in Threads" if place.parent_id else "Send Messages"
        return posting_error(error, self.name(place), (sending, *needed))

    async def _wake(self, place: Place) -> None:
        thread = await self.client.fetch_channel(place.channel_id)
        if isinstance(thread, discord.Thread):
            try:
                await thread.edit(archived=False)
            except discord.Forbidden as error:
                raise missing_permission(
                    ("Manage Threads",), f"{self.name(place)}, which is archived"
                ) from error
