"""Reads what happened in the channels of a scene while the bot was away."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import discord

from bot.posting.discord_errors import REQUEST_ERRORS, Code
from bot.scenes.director import Addressee

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from discord.ext import commands

    from bot.scenes.line_changes import LineChanges
    from bot.scenes.player_lines import IncomingLine, PlayerLines
    from bot.scenes.proxied_lines import ProxiedLines
    from bot.scenes.scene import Scene
    from cogs.incoming_messages import HeardMessage, IncomingMessages

_log = logging.getLogger(__name__)

STALE: Final = timedelta(hours=1)
"""Older messages are heard without an answer."""

_MAX_READ: Final = 5_000  # messages of a channel
_MAX_COMPARED: Final = 2_000  # messages of a story

_Readable = discord.TextChannel | discord.Thread


@dataclass(slots=True)
class CatchUp:
    """A scene's catch-up, with the changes that arrive during it."""

    done: asyncio.Event = field(default_factory=asyncio.Event)
    edited: dict[int, discord.Message] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)


class MissedMessages:
    """Applies missed edits and deletions to a story, and hears missed messages.

    `now` returns the time by Discord's clock.
    """

    def __init__(
        self,
        bot: commands.Bot,
        lines: PlayerLines,
        changes: LineChanges,
        proxied: ProxiedLines,
        incoming: IncomingMessages,
        now: Callable[[], datetime],
    ) -> None:
        self._bot = bot
        self._lines = lines
        self._changes = changes
        self._proxied = proxied
        self._incoming = incoming
        self._now = now

    async def apply(self, scene: Scene, catch_up: CatchUp) -> None:
        """Apply the changes that were made while the bot was away, then hear new messages.

        The messages of each channel are read first. Changes that arrive meanwhile count too.
        """
        place = scene.place.channel_id
        last = await self._lines.last_heard(scene) or 0
        shown = await self._list_shown(scene)
        first = min([*shown.get(place, ()), last]) if last else 0
        oldest = first or discord.utils.time_snowflake(scene.started_at)
        for channel_id, stored in shown.items():
            if channel_id != place:
                await self._compare(scene, channel_id, stored, min(stored), catch_up)
        messages = await self._compare(scene, place, shown.get(place, ()), oldest, catch_up)
        await self._hear(scene, messages, last or oldest, catch_up)

    async def compare(self, scene: Scene) -> None:
        """Apply the changes that were made while the bot was away. Hear no new messages."""
        for channel_id, stored in (await self._list_shown(scene)).items():
            await self._compare(scene, channel_id, stored, min(stored), CatchUp())

    async def hear(self, scene: Scene, heard: HeardMessage) -> None:
        """Hear a message by the rules that applied when it was written."""
        line, address = self._read_missed(scene, heard)
        if heard.by_proxy:
            await self._proxied.hear(scene, line, address)
        else:
            await self._lines.hear(scene, line, address)
            await self._proxied.match_waiting(scene)

    async def reword(self, heard: HeardMessage) -> None:
        """Update an edited line. Pins and link previews change no words."""
        message = heard.message
        edited_at = message.edited_at or message.created_at
        stale = edited_at - message.created_at > STALE  # both are Discord's times
        read = None if stale else heard.address
        await self._changes.reword(heard.line, message.channel.id, read)

    async def withdraw(self, scene: Scene | None, message_id: int, channel_id: int) -> None:
        """Follow the deletion of a message. A line may return as the post of a proxy bot."""
        guild = self._bot.get_guild(scene.place.guild_id) if scene else None
        if scene is not None and await self._incoming.may_return(guild, message_id):
            await self._proxied.withdraw(scene, message_id)
        else:
            await self._changes.withdraw(message_id, channel_id)

    def _read_missed(self, scene: Scene, heard: HeardMessage) -> tuple[IncomingLine, Addressee]:
        written_at = heard.message.created_at
        stale = self._now() - written_at > STALE
        line = replace(heard.line, missed_at=written_at)
        return line, Addressee() if stale else heard.address(scene)

    async def _list_shown(self, scene: Scene) -> Mapping[int, Sequence[int]]:
        """Return the ids of the messages that show the story, oldest first, by channel."""
        shown: dict[int, list[int]] = defaultdict(list)
        messages = await self._changes.list_messages(scene, _MAX_COMPARED)
        for message in messages:
            shown[message.channel_id].append(message.message_id)
        if len(messages) == _MAX_COMPARED:
            _log.info(
                "Scene %d: only its latest %d messages are compared with Discord.",
                scene.id,
                _MAX_COMPARED,
            )
        return shown

    async def _compare(
        self,
        scene: Scene,
        channel_id: int,
        stored: Sequence[int],
        oldest: int,
        catch_up: CatchUp,
    ) -> dict[int, discord.Message]:
        """Apply the edits and deletions of stored messages in one channel.

        Return the channel's messages from the id `oldest` on, oldest first.
        """
        channel = await self._find_channel(channel_id)
        if channel is None:
            return {}
        messages = await self._read(scene, channel, oldest)
        begin = oldest if len(messages) < _MAX_READ else min(messages)
        missing = [one for one in stored if one >= begin and one not in messages]
        deleted = set(missing) if missing and await _is_deleted(channel, missing[0]) else set()
        await self._match_posts(scene, messages, deleted | catch_up.deleted)
        for message_id in stored:
            message = catch_up.edited.get(message_id) or messages.get(message_id)
            if message_id in deleted | catch_up.deleted:
                here = scene if channel_id == scene.place.channel_id else None
                await self.withdraw(here, message_id, channel_id)
                continue
            heard = await self._incoming.read(scene, message) if message else None
            if heard is not None and heard.message.edited_at:
                await self.reword(heard)
        return messages

    async def _match_posts(
        self, scene: Scene, messages: Mapping[int, discord.Message], deleted: AbstractSet[int]
    ) -> None:
        """Let the posts of proxy bots take over stored lines before these are withdrawn."""
        for message_id, message in messages.items():
            if message_id not in deleted and message.channel.id == scene.place.channel_id:
                heard = await self._incoming.read(scene, message)
                if heard is not None and heard.by_proxy:
                    line, address = self._read_missed(scene, heard)
                    await self._proxied.match(scene, line, address, deleted)

    async def _read(
        self, scene: Scene, channel: _Readable, oldest: int
    ) -> dict[int, discord.Message]:
        """Return the messages of a channel from an id on. Of very many, return the latest."""
        after = discord.Object(oldest - 1)
        messages = [
            message
            async for message in channel.history(limit=_MAX_READ, after=after, oldest_first=False)
        ]
        if len(messages) == _MAX_READ:
            _log.warning(
                "Scene %d: channel %d has more than %d messages to catch up with. The older ones"
                " are not read.",
                scene.id,
                channel.id,
                _MAX_READ,
            )
        return {message.id: message for message in reversed(messages)}

    async def _hear(
        self,
        scene: Scene,
        messages: Mapping[int, discord.Message],
        last: int,
        catch_up: CatchUp,
    ) -> None:
        new = [message_id for message_id in messages if message_id > last]
        for message_id in new:
            message = catch_up.edited.get(message_id) or messages[message_id]
            heard = await self._incoming.read(scene, message)
            if heard is not None and message_id not in catch_up.deleted:
                await self.hear(scene, heard)
        if new:
            await self._lines.mark_seen(scene, new[-1])

    async def _find_channel(self, channel_id: int) -> _Readable | None:
        """Return a channel or thread that has messages, if the bot can see it."""
        try:
            channel = self._bot.get_channel(channel_id) or await self._bot.fetch_channel(channel_id)
        except (discord.NotFound, discord.Forbidden):
            return None
        return channel if isinstance(channel, _Readable) else None


async def _is_deleted(channel: _Readable, message_id: int) -> bool:
    """Ask Discord for a message that the history lacks.

    Without permission or an answer, it counts as existing. If one missing message is deleted, the
    history could be read, so all missing ones are.
    """
    try:
        await channel.fetch_message(message_id)
    except discord.NotFound as error:
        return error.code == Code.UNKNOWN_MESSAGE
    except REQUEST_ERRORS:
        return False
    return False
