"""Hears the messages in the channels of running scenes, and their edits and deletions."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

import discord
from discord.ext import commands

from bot.errors import AsideError, PostingError, StoreError
from bot.posting.discord_errors import REQUEST_ERRORS, Code
from bot.scenes.notices import Notice
from cogs.catch_up import CatchUp
from cogs.message_reading import is_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.scenes.departures import Departures
    from bot.scenes.persona_lines import PersonaLines
    from bot.scenes.player_lines import PlayerLines
    from bot.scenes.proxied_lines import ProxiedLines
    from bot.scenes.scene import Place, Scene
    from bot.scenes.theatre import Theatre
    from cogs.catch_up import MissedMessages
    from cogs.incoming_messages import HeardMessage, IncomingMessages

_log = logging.getLogger(__name__)
_UNHEARD = Notice(
    "Messages can't be stored at the moment. They will be heard together with the next one that is "
    "stored, so you don't need to repeat them. Whoever runs Aside finds the reason in its log."
)


class Listener(commands.Cog):
    """Passes every line in a scene's channel to `PlayerLines`, with its edits and deletions."""

    def __init__(
        self,
        bot: commands.Bot,
        theatre: Theatre,
        lines: PlayerLines,
        proxied: ProxiedLines,
        incoming: IncomingMessages,
        missed: MissedMessages,
        personas: PersonaLines,
        departures: Departures,
    ) -> None:
        self._personas = personas
        self._bot = bot
        self._departures = departures
        self._theatre = theatre
        self._lines = lines
        self._proxied = proxied
        self._incoming = incoming
        self._missed = missed
        self._catch_ups = {scene.id: CatchUp() for scene in theatre.scenes()}
        self._behind: set[int] = set()  # ids of scenes with unheard messages

    @commands.Cog.listener()
    async def on_connect(self) -> None:
        """Let new messages wait for the catch-up, because this session has not seen earlier ones.

        discord.py reports that it is ready some time later.
        """
        for scene in self._theatre.scenes():
            self._catch_ups.setdefault(scene.id, CatchUp())

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Catch up with each scene, then resume its pending replies and hear new messages.

        End the scenes whose channels were deleted in the meantime.
        """
        behind = self._theatre.scenes()
        for scene in behind:
            self._catch_ups.setdefault(scene.id, CatchUp())
        try:
            for scene in behind:
                await self._catch_up_or_end(scene)
                if self._is_there(scene):
                    await self._personas.resume(scene)
                    await self._theatre.report_missed_failures(scene)
                self._theatre.play_owed(scene.id)
                self._release(scene)
        finally:
            for scene in behind:
                self._release(scene)

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Hear a line."""
        scene = self._theatre.at(message.channel.id)
        heard = await self._incoming.read(scene, message) if scene is not None else None
        if scene is not None and heard is not None:
            if (catch_up := self._catch_ups.get(scene.id)) is not None:
                await catch_up.done.wait()
            if scene.id in self._behind:
                await self._catch_up_or_end(scene)
            try:
                await self._hear(scene, heard)
            except Exception as error:  # no line is lost: it is heard together with the next one
                await self._announce_unheard(scene, error)
            await self._departures.check_players(self._theatre.at(message.channel.id) or scene)

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Update a line. Pins and link previews change no words."""
        scene = self._theatre.at(payload.channel_id)
        heard = await self._incoming.read(scene, payload.message)
        if heard is not None:
            for catch_up in tuple(self._catch_ups.values()):
                catch_up.edited[payload.message_id] = payload.message
            await self._wait_for_catch_ups(payload.channel_id)
            if scene is not None:
                self._proxied.note_edit(scene, heard.line)
            await self._missed.reword(heard)

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Remove a deleted message from the story."""
        await self._withdraw([payload.message_id], payload.channel_id)

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Remove deleted messages from the story."""
        await self._withdraw(sorted(payload.message_ids), payload.channel_id)

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
                    self._missed.apply(scene, self._catch_ups.get(scene.id) or CatchUp())
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

    async def _hear(self, scene: Scene, heard: HeardMessage) -> None:
        address = heard.address(scene)
        if heard.by_proxy:
            await self._proxied.hear(scene, heard.line, address)
        else:
            stored = await self._lines.hear(scene, heard.line, address)
            await self._proxied.match_waiting(scene)
            if stored and not heard.by_bot and is_plain(heard.message):
                await self._personas.show(scene, heard.line, address, heard.message.content)

    async def _announce_unheard(self, scene: Scene, error: Exception) -> None:
        """Announce that a line could not be stored, once until storing works again."""
        known = isinstance(error, StoreError)
        _log.error("Scene %d: a line could not be stored: %r", scene.id, error, exc_info=not known)
        if scene.id not in self._behind:
            self._behind.add(scene.id)
            with contextlib.suppress(PostingError):
                await self._theatre.announce(scene, _UNHEARD)

    async def _withdraw(self, message_ids: Sequence[int], channel_id: int) -> None:
        for catch_up in tuple(self._catch_ups.values()):
            catch_up.deleted.update(message_ids)
        await self._wait_for_catch_ups(channel_id)
        for message_id in message_ids:
            await self._missed.withdraw(self._theatre.at(channel_id), message_id, channel_id)

    async def _wait_for_catch_ups(self, channel_id: int) -> None:
        """Wait for the catch-up of the scene in this channel, so that its lines are stored."""
        scene = self._theatre.at(channel_id)
        if scene is not None and (catch_up := self._catch_ups.get(scene.id)) is not None:
            await catch_up.done.wait()

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
