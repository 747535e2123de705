"""Access to the channels and threads that scenes play in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import discord

from bot.posting.attachments import create_files
from bot.posting.discord_errors import REQUEST_ERRORS, Code, explain_discord_error
from bot.posting.permissions import describe_channel, explain_missing_permission

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.errors import PostingError
    from bot.posting.render import Outgoing
    from bot.scenes.scene import Place

NO_MENTIONS: Final = discord.AllowedMentions.none()

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Channels:
    """Sends and deletes the bot's own messages in the places of scenes.

    A place does not have to be in discord.py's cache.
    """

    client: discord.Client

    def messageable(self, place: Place) -> discord.PartialMessageable:
        """Return the channel or thread of a place."""
        return self.client.get_partial_messageable(place.channel_id, guild_id=place.guild_id)

    def display_name(self, place: Place) -> str:
        """Return the name of a place as error sentences use it."""
        return describe_channel(self.client.get_channel(place.channel_id))

    async def send(
        self,
        place: Place,
        text: str | None = None,
        *,
        embed: discord.Embed | None = None,
        view: discord.ui.View | None = None,
    ) -> discord.Message:
        """Post a message of the bot's own. Raises PostingError."""
        # Passed as a dict because discord.py's overloads accept no None.
        extras: dict[str, Any] = {"embed": embed, "view": view}

        async def send() -> discord.Message:
            return await self.messageable(place).send(text, **extras, allowed_mentions=NO_MENTIONS)

        try:
            return await self.retry_unarchived(place, send)
        except REQUEST_ERRORS as error:
            raise self.explain_posting_error(
                place, error, *(("Embed Links",) if embed else ())
            ) from error

    async def send_rendered(self, place: Place, outgoing: Outgoing) -> discord.Message:
        """Post a rendered message under the bot's own name. Raises PostingError."""

        async def send() -> discord.Message:
            return await self.messageable(place).send(
                outgoing.text, files=create_files(outgoing), allowed_mentions=NO_MENTIONS
            )

        try:
            return await self.retry_unarchived(place, send)
        except REQUEST_ERRORS as error:
            needed = ("Attach Files",) if outgoing.files else ()
            raise self.explain_posting_error(place, error, *needed) from error

    async def delete(self, place: Place, message_id: int) -> None:
        """Delete a message.

        Messages that are not the bot's own need Manage Messages. Raises discord.py's errors.
        """
        message = self.messageable(place).get_partial_message(message_id)
        await self.retry_unarchived(place, message.delete)

    async def retry_unarchived(
        self, place: Place, attempt: Callable[[], Awaitable[_Result]]
    ) -> _Result:
        """Return the result of `attempt`. If the thread is archived, unarchive it and try again.

        Raises discord.py's errors, and MissingPermission if the bot may not unarchive the thread.
        """
        try:
            return await attempt()
        except discord.HTTPException as error:
            if error.code != Code.THREAD_ARCHIVED:
                raise
        await self._unarchive(place)
        return await attempt()

    def explain_posting_error(self, place: Place, error: Exception, *needed: str) -> PostingError:
        """Return the error that explains why posting in a place failed.

        `needed` are the permissions that the request takes besides sending messages.
        """
        sending = "Send Messages in Threads" if place.parent_id else "Send Messages"
        return explain_discord_error(error, self.display_name(place), (sending, *needed))

    async def _unarchive(self, place: Place) -> None:
        thread = await self.client.fetch_channel(place.channel_id)
        if isinstance(thread, discord.Thread):
            try:
                await thread.edit(archived=False)
            except discord.Forbidden as error:
                raise explain_missing_permission(
                    ("Manage Threads",), f"{self.display_name(place)}, which is archived"
                ) from error
