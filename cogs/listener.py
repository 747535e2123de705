"""Hears the messages in the channels of running scenes, and their edits and deletions."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from datetime import timedelta
from typing import TYPE_CHECKING

import discord
from discord.ext import commands

from bot.errors import AsideError, PostingError, StoreError
from bot.library.name_matching import find_addressed, spoken_names
from bot.posting.discord_errors import REQUEST_ERRORS, Code
from bot.scenes.director import Addressee
from bot.scenes.notices import Notice
from bot.scenes.player_lines import IncomingLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.scenes.departures import Departures
    from bot.scenes.player_lines import PlayerLines
    from bot.scenes.scene import Place, Scene
    from bot.scenes.theatre import Theatre

_log = logging.getLogger(__name__)
_SPOKEN = (discord.MessageType.default, discord.MessageType.reply)
_CATCH_UP = 2000  # messages to read for each scene after a start
_STALE = timedelta(hours=1)  # older messages are heard without an answer
_UNHEARD = Notice(
    "Messages can't be stored at the moment. They will be heard together with the next one that is "
    "stored, so you don't need to repeat them. Whoever runs Aside finds the reason in its log."
)
_NUDGE = "…"  # the text of a line that only mentions a character


class Listener(commands.Cog):
    """Passes every line in a scene's channel to `PlayerLines`, with its edits and deletions."""

    def __init__(
        self, bot: commands.Bot, theatre: Theatre, lines: PlayerLines, departures: Departures
    ) -> None:
        self._bot = bot
        self._departures = departures
        self._theatre = theatre
        self._lines = lines
        self._caught_up = {scene.id: asyncio.Event() for scene in theatre.scenes()}
        self._behind: set[int] = set()  # ids of scenes with unheard messages

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Resume pending replies and hear missed messages before new ones.

        End the scenes whose channels were deleted in the meantime.
        """
        self._theatre.play_owed()
        behind = self._theatre.scenes()
        for scene in behind:
            self._caught_up.setdefault(scene.id, asyncio.Event())
        try:
            for scene in behind:
                await self._catch_up_or_end(scene)
                self._release(scene)
        finally:
            for scene in behind:
                self._release(scene)

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Hear a line."""
        if (scene := self._theatre.at(message.channel.id)) is not None and _is_spoken(message):
            if (caught_up := self._caught_up.get(scene.id)) is not None:
                await caught_up.wait()
            if scene.id in self._behind:
                await self._catch_up_or_end(scene)
            try:
                await self._hear(scene, message, self._address(scene, message))
            except Exception as error:  # no line is lost: it is heard together with the next one
                await self._announce_unheard(scene, error)
            await self._departures.check_players(self._theatre.at(message.channel.id) or scene)

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Update a line. Pins and link previews change no words."""
        if (scene := self._theatre.at(payload.channel_id)) is not None and _is_spoken(
            payload.message
        ):
            await self._lines.reword(scene, payload.message_id, self._words(payload.message))

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Remove a deleted message from the story."""
        if (scene := self._theatre.at(payload.channel_id)) is not None:
            await self._lines.withdraw(scene, payload.message_id)

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Remove deleted messages from the story."""
        if (scene := self._theatre.at(payload.channel_id)) is not None:
            for message_id in sorted(payload.message_ids):
                await self._lines.withdraw(scene, message_id)

    @commands.Cog.listener()
    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """End the scene in a deleted channel, and those in its threads."""
        await self._end(lambda place: channel.id in (place.channel_id, place.parent_id))

    @commands.Cog.listener()
    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """End the scenes of a server that removed Aside. They stay stored."""
        _log.info(
            "The server %d removed Aside. `aside forget %d` deletes its stories.",
            guild.id,
            guild.id,
        )
        await self._end(lambda place: place.guild_id == guild.id)

    @commands.Cog.listener()
    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        """End the scene in a deleted thread."""
        await self._end(lambda place: place.channel_id == payload.thread_id)

    async def _end(self, gone: Callable[[Place], bool]) -> None:
        """End the scenes in deleted places."""
        for scene in self._theatre.scenes():
            if gone(scene.place) and self._is_there(scene):
                await self._theatre.end(scene, 0, moderates=True)

    def _is_there(self, scene: Scene) -> bool:
        """Return whether the scene is still in its place. It may have ended during an await."""
        now = self._theatre.at(scene.place.channel_id)
        return now is not None and now.id == scene.id

    def _release(self, scene: Scene) -> None:
        """Release the messages that waited for the catch-up."""
        if (caught_up := self._caught_up.pop(scene.id, None)) is not None:
            caught_up.set()

    async def _catch_up_or_end(self, scene: Scene) -> None:
        """Hear missed messages, or end the scene if its place was deleted.

        After a failure, the next line tries again.
        """
        try:
            channel = await self._channel(scene.place)
            if self._is_there(scene):
                await (
                    self._catch_up(scene, channel)
                    if channel
                    else self._theatre.end(scene, 0, moderates=True)
                )
            self._behind.discard(scene.id)
        except Exception as error:  # the next line tries again
            self._behind.add(scene.id)
            known = isinstance(error, (*REQUEST_ERRORS, AsideError))
            _log.warning(
                "Scene %d: missed messages could not be heard: %s",
                scene.id,
                error,
                exc_info=not known,
            )

    async def _announce_unheard(self, scene: Scene, error: Exception) -> None:
        """Announce that a line could not be stored, once until storing works again."""
        known = isinstance(error, StoreError)
        _log.error("Scene %d: a line could not be stored: %r", scene.id, error, exc_info=not known)
        if scene.id not in self._behind:
            self._behind.add(scene.id)
            with contextlib.suppress(PostingError):
                await self._theatre.announce(scene, _UNHEARD)

    async def _hear(
        self, scene: Scene, message: discord.Message, address: Addressee, *, missed: bool = False
    ) -> None:
        line = IncomingLine(
            message.author.id,
            message.author.display_name,
            message.id,
            self._words(message),
            missed_at=message.created_at if missed else None,
        )
        await self._lines.hear(scene, line, address)

    def _address(self, scene: Scene, message: discord.Message) -> Addressee:
        """Return the addressees: characters by name or role, the bot, the replied-to message."""
        roles = {part.role_id: part.character for part in scene.parts if part.role_id}
        text = re.sub(r"<@&(\d+)>", lambda role: f"@{roles.get(int(role[1]), '')}", message.content)
        reference = message.reference
        return Addressee(
            characters=find_addressed(text, spoken_names(scene.scenario.characters)),
            bot=self._own_mention().search(message.content) is not None
            or self._own_role(message) is not None,
            reply_to=reference.message_id
            if reference and message.type is discord.MessageType.reply
            else None,
        )

    def _words(self, message: discord.Message) -> str:
        """Return the text with mentions as names, without mentions of the bot."""
        spoken = message.clean_content.replace("\u200b", "")
        for name in (self._own_name(message), self._own_role(message)):
            if name:
                spoken = re.sub(rf"@{re.escape(name)}[,:]?[ \t]*", "", spoken)
        mentioned = bool(message.content.strip()) and not spoken.strip()
        return _NUDGE if mentioned else spoken.strip()

    def _own_name(self, message: discord.Message) -> str | None:
        me = message.guild.me if message.guild else self._bot.user
        return me.display_name if me and self._own_mention().search(message.content) else None

    def _own_role(self, message: discord.Message) -> str | None:
        """Return the name of the bot's role if the message mentions it, as people do by mistake."""
        own = message.guild.self_role if message.guild else None
        return own.name if own is not None and own in message.role_mentions else None

    def _own_mention(self) -> re.Pattern[str]:
        return re.compile(rf"<@!?{self._bot.user.id if self._bot.user else 0}>")

    async def _channel(self, place: Place) -> object | None:
        """Return the channel, or None if it was deleted or the server removed Aside."""
        if self._bot.get_guild(place.guild_id) is None:
            return None
        try:  # archived threads are not in the cache
            return self._bot.get_channel(place.channel_id) or await self._bot.fetch_channel(
                place.channel_id
            )
        except discord.NotFound as error:
            if error.code != Code.UNKNOWN_CHANNEL:
                raise
            return None

    async def _catch_up(self, scene: Scene, channel: object) -> None:
        if not isinstance(channel, discord.TextChannel | discord.Thread):
            return
        last = await self._lines.last_heard(scene)
        after = discord.Object(last) if last else scene.started_at
        async for message in channel.history(limit=_CATCH_UP, after=after, oldest_first=True):
            if _is_spoken(message):
                stale = discord.utils.utcnow() - message.created_at > _STALE
                address = Addressee() if stale else self._address(scene, message)
                await self._hear(scene, message, address, missed=True)


def _is_spoken(message: discord.Message) -> bool:
    """Return whether the message has a person's own words.

    Bots, webhooks, system messages, forwards and bare attachments don't count.
    """
    return (
        not (message.author.bot or message.webhook_id)
        and message.type in _SPOKEN
        and bool(message.content)
    )
