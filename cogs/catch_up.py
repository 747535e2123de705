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
from cogs.message_reading import is_personal, read_address, read_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from discord.ext import commands

    from bot.scenes.line_changes import LineChanges
    from bot.scenes.player_lines import PlayerLines
    from bot.scenes.scene import Scene

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
        now: Callable[[], datetime],
    ) -> None:
        self._bot = bot
        self._lines = lines
        self._changes = changes
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

    async def hear(self, scene: Scene, message: discord.Message) -> None:
        """Hear a message by the rules that applied when it was written."""
        stale = self._now() - message.created_at > STALE
        line = replace(read_line(message), missed_at=message.created_at)
        await self._lines.hear(scene, line, Addressee() if stale else read_address(scene, message))

    async def reword(self, message: discord.Message) -> None:
        """Update an edited line. Pins and link previews change no words."""
        edited_at = message.edited_at or message.created_at
        stale = edited_at - message.created_at > STALE  # both are Discord's times
        read = None if stale else lambda scene: read_address(scene, message)
        await self._changes.reword(read_line(message), message.channel.id, read)

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
        for message_id in stored:
            message = catch_up.edited.get(message_id) or messages.get(message_id)
            if message_id in deleted | catch_up.deleted:
                await self._changes.withdraw(message_id, channel_id)
            elif message is not None and message.edited_at and is_personal(message):
                await self.reword(message)
        return messages

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
            if message_id not in catch_up.deleted and is_personal(message):
                await self.hear(scene, message)
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
