"""Hears what is said in the channels where scenes are under way, and what becomes of it later."""

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
from bot.library.name_matching import addressed, spoken_names
from bot.posting.discord_errors import REQUEST_ERRORS, Code
from bot.scenes.director import Addressee
from bot.scenes.notices import Notice
from bot.scenes.player_lines import IncomingLine
from bot.scenes.scene import SceneState

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.scenes.player_lines import PlayerLines
    from bot.scenes.scene import Place, Scene
    from bot.scenes.theatre import Theatre

_log = logging.getLogger(__name__)
_SPOKEN = (discord.MessageType.default, discord.MessageType.reply)
_CATCH_UP = 2000  # messages looked at for each scene after a start: more is not said while a bot is restarted
_STALE = timedelta(
    hours=1
)  # what is older was heard, but nobody waits for an answer to it any more
_UNHEARD = Notice(
    "Messages can't be stored at the moment. They will be heard with the next one that can be stored, "
    "so you need not repeat them. Whoever runs Aside finds the reason in its log."
)
_NUDGE = "…"  # what a person says who only mentions a character


class Listener(commands.Cog):
    """Hands every line in a scene's channel to the theatre, and edits and deletions of it too."""

    def __init__(self, bot: commands.Bot, theatre: Theatre, hearing: PlayerLines) -> None:
        self._bot = bot
        self._theatre = theatre
        self._hearing = hearing
        self._caught_up = {scene.id: asyncio.Event() for scene in theatre.scenes()}
        self._behind: set[int] = set()  # scenes in which something was said that could not be heard

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Play what was owed, and hear what was said while nobody listened, before what is said now.

        A scene whose place went away meanwhile is ended.
        """
        self._theatre.play_owed()
        behind = self._theatre.scenes()
        for scene in behind:
            self._caught_up.setdefault(scene.id, asyncio.Event())
        try:
            for scene in behind:
                await self._make_up(scene)
                self._go_on(scene)
        finally:
            for scene in behind:
                self._go_on(scene)

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Hear a line."""
        if (scene := self._theatre.at(message.channel.id)) is not None and _is_spoken(message):
            if (caught_up := self._caught_up.get(scene.id)) is not None:
                await caught_up.wait()
            if scene.id in self._behind:
                await self._make_up(scene)
            try:
                await self._hear(scene, message, self._address(scene, message))
            except (
                Exception
            ) as error:  # a line is never lost, whatever goes wrong: it is heard with the next one
                await self._unheard(scene, error)

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Take over the new words of a line; pins, previews and the like change none."""
        if (scene := self._theatre.at(payload.channel_id)) is not None and _is_spoken(
            payload.message
        ):
            await self._hearing.reword(scene, payload.message_id, self._words(payload.message))

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Take a deleted message out of the story."""
        if (scene := self._theatre.at(payload.channel_id)) is not None:
            await self._hearing.withdraw(scene, payload.message_id)

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Take deleted messages out of the story."""
        if (scene := self._theatre.at(payload.channel_id)) is not None:
            for message_id in sorted(payload.message_ids):
                await self._hearing.withdraw(scene, message_id)

    @commands.Cog.listener()
    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """End the scene whose channel is gone, and those in its threads."""
        await self._end(lambda place: channel.id in (place.channel_id, place.parent_id))

    @commands.Cog.listener()
    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """End the scenes of a server that sent Aside away. They stay stored: it may have been a mistake."""
        _log.info(
            "The server %d sent Aside away: `aside forget %d` deletes its stories.",
            guild.id,
            guild.id,
        )
        await self._end(lambda place: place.guild_id == guild.id)

    @commands.Cog.listener()
    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        """End the scene whose thread is gone."""
        await self._end(lambda place: place.channel_id == payload.thread_id)

    async def _end(self, gone: Callable[[Place], bool]) -> None:
        """End the scenes whose place is gone."""
        for scene in self._theatre.scenes():
            if gone(scene.place) and self._is_there(scene):
                await self._theatre.end(scene, 0, moderates=True)

    def _is_there(self, scene: Scene) -> bool:
        """Whether a scene is still where it was when others were waited for: it may have ended or moved since."""
        now = self._theatre.at(scene.place.channel_id)
        return now is not None and now.id == scene.id

    def _go_on(self, scene: Scene) -> None:
        """Let in what waited to be heard after what was missed."""
        if (caught_up := self._caught_up.pop(scene.id, None)) is not None:
            caught_up.set()

    async def _make_up(self, scene: Scene) -> None:
        """Hear what was missed, or end a scene whose place is gone. Where that fails, it is tried once more before the
        next line."""
        try:
            channel = await self._channel(scene.place)
            if self._is_there(scene):
                await (
                    self._catch_up(scene, channel)
                    if channel
                    else self._theatre.end(scene, 0, moderates=True)
                )
            self._behind.discard(scene.id)
        except Exception as error:  # the same
            self._behind.add(scene.id)
            known = isinstance(error, (*REQUEST_ERRORS, AsideError))
            _log.warning(
                "Scene %d: what was said meanwhile could not be heard: %s",
                scene.id,
                error,
                exc_info=not known,
            )

    async def _unheard(self, scene: Scene, error: Exception) -> None:
        """Say, once until it is better, that a line could not be stored."""
        known = isinstance(error, StoreError)
        _log.error("Scene %d: a line could not be stored: %r", scene.id, error, exc_info=not known)
        if scene.id not in self._behind:
            self._behind.add(scene.id)
            with contextlib.suppress(PostingError):
                await self._theatre.announce(scene, _UNHEARD)

    async def _hear(self, scene: Scene, message: discord.Message, address: Addressee) -> None:
        said = IncomingLine(
            message.author.id, message.author.display_name, message.id, self._words(message)
        )
        await self._hearing.hear(scene, said, address)

    def _address(self, scene: Scene, message: discord.Message) -> Addressee:
        """Return whom a message speaks to: `@name` and character roles in order, the bot, the message replied to."""
        roles = {part.role_id: part.character for part in scene.parts if part.role_id}
        text = re.sub(r"<@&(\d+)>", lambda role: f"@{roles.get(int(role[1]), '')}", message.content)
        reference = message.reference
        return Addressee(
            characters=addressed(text, spoken_names(scene.scenario.characters)),
            bot=self._own_mention().search(message.content) is not None
            or self._own_role(message) is not None,
            reply_to=reference.message_id
            if reference and message.type is discord.MessageType.reply
            else None,
        )

    def _words(self, message: discord.Message) -> str:
        """Return the text with mentions written out, and without those of the bot itself, which nobody speaks."""
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
        """Return the name of the bot's own role where the message mentions it: people pick it instead of the bot."""
        own = message.guild.self_role if message.guild else None
        return own.name if own is not None and own in message.role_mentions else None

    def _own_mention(self) -> re.Pattern[str]:
        return re.compile(rf"<@!?{self._bot.user.id if self._bot.user else 0}>")

    async def _channel(self, place: Place) -> object | None:
        """Return the channel, as far as Discord can tell; None where it is gone, or the server sent Aside away."""
        if self._bot.get_guild(place.guild_id) is None:
            return None
        try:  # threads that are archived have to be asked for
            return self._bot.get_channel(place.channel_id) or await self._bot.fetch_channel(
                place.channel_id
            )
        except discord.NotFound as error:
            if error.code != Code.UNKNOWN_CHANNEL:
                raise
            return None

    async def _catch_up(self, scene: Scene, channel: object) -> None:
        if scene.state is not SceneState.PLAYING or not isinstance(
            channel, discord.TextChannel | discord.Thread
        ):
            return
        last = await self._hearing.last_heard(scene)
        after = discord.Object(last) if last else scene.started_at
        async for message in channel.history(limit=_CATCH_UP, after=after, oldest_first=True):
            if _is_spoken(message):
                stale = discord.utils.utcnow() - message.created_at > _STALE
                await self._hear(
                    scene, message, Addressee() if stale else self._address(scene, message)
                )


def _is_spoken(message: discord.Message) -> bool:
    """Whether a message is a person's own words: no bot, webhook, notice of Discord's, forward or bare attachment."""
    return (
        not (message.author.bot or message.webhook_id)
        and message.type in _SPOKEN
        and bool(message.content)
    )
