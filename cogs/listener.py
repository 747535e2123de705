"""Hears the messages in the channels of running scenes, and their edits and deletions."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeGuard

import discord
from discord.ext import commands

from bot.errors import AsideError, PostingError, StoreError
from bot.posting.discord_errors import REQUEST_ERRORS, Code
from bot.scenes.director import Addressee
from bot.scenes.notices import Notice
from bot.scenes.player_lines import IncomingLine
from cogs.message_reading import read_address, read_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.scenes.departures import Departures
    from bot.scenes.player_lines import PlayerLines
    from bot.scenes.scene import Place, Scene
    from bot.scenes.theatre import Theatre

_log = logging.getLogger(__name__)
_SPOKEN = (discord.MessageType.default, discord.MessageType.reply)
_CATCH_UP = 2000  # messages to read for each scene after a start
_LOOK_BACK = 100  # stored messages of each scene to compare with the channel after a start
_STALE = timedelta(hours=1)  # older messages are heard without an answer
_UNHEARD = Notice(
    "Messages can't be stored at the moment. They will be heard together with the next one that is "
    "stored, so you don't need to repeat them. Whoever runs Aside finds the reason in its log."
)


class _CatchUp:
    """A scene's catch-up after a start, with the changes that arrive during it."""

    def __init__(self) -> None:
        self.done = asyncio.Event()
        self.edited: dict[int, discord.Message] = {}
        self.deleted: set[int] = set()


class Listener(commands.Cog):
    """Passes every line in a scene's channel to `PlayerLines`, with its edits and deletions."""

    def __init__(
        self, bot: commands.Bot, theatre: Theatre, lines: PlayerLines, departures: Departures
    ) -> None:
        self._bot = bot
        self._departures = departures
        self._theatre = theatre
        self._lines = lines
        self._catch_ups = {scene.id: _CatchUp() for scene in theatre.scenes()}
        self._behind: set[int] = set()  # ids of scenes with unheard messages

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Catch up with each scene, then resume its pending replies and hear new messages.

        End the scenes whose channels were deleted in the meantime.
        """
        behind = self._theatre.scenes()
        for scene in behind:
            self._catch_ups.setdefault(scene.id, _CatchUp())
        try:
            for scene in behind:
                await self._catch_up_or_end(scene)
                if self._is_there(scene):
                    await self._theatre.report_missed_failures(scene)
                self._theatre.play_owed(scene.id)
                self._release(scene)
        finally:
            for scene in behind:
                self._release(scene)

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Hear a line."""
        if (scene := self._theatre.at(message.channel.id)) is not None and _is_personal(message):
            if (catch_up := self._catch_ups.get(scene.id)) is not None:
                await catch_up.done.wait()
            if scene.id in self._behind:
                await self._catch_up_or_end(scene)
            try:
                await self._hear(scene, message)
            except Exception as error:  # no line is lost: it is heard together with the next one
                await self._announce_unheard(scene, error)
            await self._departures.check_players(self._theatre.at(message.channel.id) or scene)

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Update a line. Pins and link previews change no words."""
        scene = self._theatre.at(payload.channel_id)
        if scene is not None and _is_personal(payload.message):
            if (catch_up := self._catch_ups.get(scene.id)) is not None:
                catch_up.edited[payload.message_id] = payload.message
                await catch_up.done.wait()
            await self._reword(scene, payload.message)

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Remove a deleted message from the story."""
        if (scene := self._theatre.at(payload.channel_id)) is not None:
            await self._withdraw(scene, [payload.message_id])

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Remove deleted messages from the story."""
        if (scene := self._theatre.at(payload.channel_id)) is not None:
            await self._withdraw(scene, sorted(payload.message_ids))

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
    async def on_raw_thread_update(self, payload: discord.RawThreadUpdateEvent) -> None:
        """Report missing replies in a thread that was unlocked."""
        scene = self._theatre.at(payload.thread_id)
        if scene is not None and not payload.data["thread_metadata"].get("locked", False):
            await self._theatre.report_missed_failures(scene)

    @commands.Cog.listener()
    async def on_guild_channel_update(
        self, _before: discord.abc.GuildChannel, after: discord.abc.GuildChannel
    ) -> None:
        """Report missing replies in a channel whose permissions changed."""
        for scene in self._theatre.scenes():
            if after.id in (scene.place.channel_id, scene.place.parent_id):
                await self._theatre.report_missed_failures(scene)

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
        if (catch_up := self._catch_ups.pop(scene.id, None)) is not None:
            catch_up.done.set()

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

    async def _hear(self, scene: Scene, message: discord.Message, *, missed: bool = False) -> None:
        line = _read_line(message)
        if missed:
            line = replace(line, missed_at=message.created_at)
        stale = missed and discord.utils.utcnow() - message.created_at > _STALE
        address = Addressee() if stale else read_address(scene, message)
        await self._lines.hear(scene, line, address)

    async def _withdraw(self, scene: Scene, message_ids: Sequence[int]) -> None:
        if (catch_up := self._catch_ups.get(scene.id)) is not None:
            catch_up.deleted.update(message_ids)
            await catch_up.done.wait()
        for message_id in message_ids:
            await self._lines.withdraw(scene, message_id)

    async def _reword(self, scene: Scene, message: discord.Message) -> None:
        edited_at = message.edited_at or message.created_at
        stale = edited_at - message.created_at > _STALE  # both are Discord's times
        address = Addressee() if stale else read_address(scene, message)
        await self._lines.reword(scene, _read_line(message), address)

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
        """Apply the changes that were made while the bot was away, then hear new messages.

        The messages are read first. Changes that arrive meanwhile count too.
        """
        if not isinstance(channel, discord.TextChannel | discord.Thread):
            return
        catch_up = self._catch_ups.get(scene.id) or _CatchUp()
        last = await self._lines.last_heard(scene) or 0
        stored = await self._lines.list_recent_messages(scene, _LOOK_BACK)
        first = min([*stored, last]) if last else 0
        after = discord.Object(first - 1) if first else scene.started_at
        messages = {
            message.id: message
            async for message in channel.history(limit=_CATCH_UP, after=after, oldest_first=True)
        }
        missing = [message_id for message_id in stored if message_id not in messages]
        deleted = {one for one in missing if await self._is_deleted(channel, one)}
        deleted |= catch_up.deleted
        messages |= {one: catch_up.edited[one] for one in catch_up.edited if one in messages}
        for message_id in stored:
            if message_id in deleted:
                await self._lines.withdraw(scene, message_id)
            elif _is_edited_line(message := messages.get(message_id)):
                await self._reword(scene, message)
        for message in messages.values():
            if message.id > last and message.id not in deleted and _is_personal(message):
                await self._hear(scene, message, missed=True)

    async def _is_deleted(
        self, channel: discord.TextChannel | discord.Thread, message_id: int
    ) -> bool:
        """Ask Discord for one message. Without permission or an answer it counts as existing."""
        try:
            await channel.fetch_message(message_id)
        except discord.NotFound as error:
            return error.code == Code.UNKNOWN_MESSAGE
        except REQUEST_ERRORS:
            return False
        return False


def _is_edited_line(message: discord.Message | None) -> TypeGuard[discord.Message]:
    return message is not None and message.edited_at is not None and _is_personal(message)


def _is_personal(message: discord.Message) -> bool:
    """Return whether a person wrote the message: no bot, webhook, system message or forward."""
    return (
        not (message.author.bot or message.webhook_id)
        and message.type in _SPOKEN
        and not message.flags.forwarded
    )


def _read_line(message: discord.Message) -> IncomingLine:
    author = message.author
    return IncomingLine(author.id, author.display_name, message.id, read_words(message))
