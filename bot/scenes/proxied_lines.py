"""Keeps one line for each message that a proxy bot posts again under another name."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.errors import AsideError
from bot.scenes.notices import Notice
from bot.scenes.player_lines import read_beats, read_typed_text
from bot.scenes.proxy_matching import WINDOW, Content, RecentLine, find_original
from bot.scenes.scene import SceneState
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from bot.scenes.director import Addressee
    from bot.scenes.line_changes import LineChanges
    from bot.scenes.player_lines import IncomingLine, PlayerLines
    from bot.scenes.proxy_matching import RecentLines
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)

GRACE: Final = timedelta(seconds=5)
"""How long a deleted line waits for a proxy bot's post, and such a post for its line."""

_UNKNOWN_AUTHOR = Notice(
    "A proxy bot posted a line while Aside could not see who wrote it, so the characters did not "
    "hear it. Its author can post it again."
)


class ProxiedLines:
    """Lets the posts of proxy bots take the place of the lines that they post again.

    The post and the deletion of the person's message arrive in any order. A deleted line leaves the
    story only if no post has taken its place after `grace`.
    """

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        lines: PlayerLines,
        changes: LineChanges,
        recent: RecentLines,
        now: Callable[[], datetime],
        grace: timedelta = GRACE,
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._lines = lines
        self._changes = changes
        self._recent = recent
        self._now = now
        self._grace = grace
        self._matching = asyncio.Lock()
        self._held: dict[int, asyncio.Task[None]] = {}  # by the deleted message
        self._waiting: dict[int, tuple[int, IncomingLine, Addressee]] = {}  # by message
        self._timers: set[asyncio.Task[None]] = set()
        self._reported: set[int] = set()  # ids of scenes that know about an unknown author

    async def close(self) -> None:
        """Cancel the delayed withdrawals. After a restart, the catch-up finds the deleted lines."""
        for timer in tuple(self._timers):
            timer.cancel()
        await asyncio.gather(*self._timers, return_exceptions=True)

    async def hear(self, scene: Scene, post: IncomingLine, address: Addressee) -> None:
        """Hear a proxy bot's post, now or when its line arrives. Its author id is not used."""
        if await self.match(scene, post, address):
            return
        self._waiting[post.message_id] = (scene.id, post, address)

        async def give_up() -> None:
            if self._waiting.pop(post.message_id, None):
                await self._report_unknown_author(scene, post)

        self._start_timer(give_up)

    async def match_waiting(self, scene: Scene) -> None:
        """Let the posts that wait take over lines that have arrived."""
        for scene_id, post, address in tuple(self._waiting.values()):
            if scene_id == scene.id and await self.match(scene, post, address):
                self._waiting.pop(post.message_id, None)

    async def match(
        self,
        scene: Scene,
        post: IncomingLine,
        address: Addressee,
        deleted: AbstractSet[int] = frozenset(),
    ) -> bool:
        """Let a post take over its line, if that is known. Return whether it was dealt with.

        `deleted` are ids of messages whose deletion was found just now.
        """
        async with self._matching:
            if await self._store.turn_by_message(post.message_id) is not None:
                return True
            content = Content(post.text, post.files)
            written_at = post.missed_at or self._now()
            lines = await self._list_lines(scene, written_at)
            original = find_original(lines, content, written_at, deleted | self._held.keys())
            if original is None:
                return False
            self._recent.mark_proxied(scene.id, original, post.message_id, content)
            line = replace(post, author_id=original.author_id)
            another_part = original.proxied and original.content != content
            turn = await self._store.turn_by_message(original.message_id)
            if not another_part and turn is not None and not _has_left_story(turn, original):
                await self._take_over(scene, original, line, address)
                return True
        if another_part or turn is not None:
            await self._lines.hear(scene, line, address)
        return True

    async def withdraw(self, scene: Scene, message_id: int) -> None:
        """Follow the deletion of a message at once, or when no proxy bot has posted it again."""
        if not await self._is_fresh_line(scene, message_id):
            await self._withdraw(scene, message_id)
            return

        async def withdraw() -> None:
            self._held.pop(message_id, None)
            async with self._matching:
                await self._withdraw(scene, message_id)

        self._held[message_id] = self._start_timer(withdraw)
        await self.match_waiting(scene)

    def note_edit(self, scene: Scene, edited: IncomingLine) -> None:
        """Remember the new text of a person's message. A proxy bot may post that one."""
        if line := self._recent.find(scene.id, edited.message_id):
            content = Content(edited.text, edited.files)
            self._recent.add(scene.id, replace(line, content=content, written_at=self._now()))

    async def _take_over(
        self, scene: Scene, original: RecentLine, line: IncomingLine, address: Addressee
    ) -> None:
        self._reported.discard(scene.id)
        if timer := self._held.pop(original.message_id, None):
            timer.cancel()
        addressed = replace(address, reply_to=address.reply_to or original.reply_to)
        await self._changes.take_over(scene, original.message_id, line, addressed)

    async def _list_lines(self, scene: Scene, written_at: datetime) -> list[RecentLine]:
        """Return the latest lines, after all earlier events of the scene.

        The texts of lines heard before a restart are known as far as they are stored.
        """
        running = self._theatre.find_running(scene.id)
        async with running.lock if running else asyncio.Lock():
            stored = await self._store.recent_lines(scene.id, written_at - WINDOW)
            remembered = self._recent.lines(scene.id)
        known = {line.message_id for line in remembered}
        return [
            *(_recall(turn) for turn in stored if turn.message_id not in known),
            *remembered,
        ]

    async def _is_fresh_line(self, scene: Scene, message_id: int) -> bool:
        running = self._theatre.find_running(scene.id)
        async with running.lock if running else asyncio.Lock():
            turn = await self._store.turn_by_message(message_id)
        if turn is None or turn.kind is not TurnKind.LINE or turn.scene_id != scene.id:
            return False
        line = self._recent.find(scene.id, message_id)
        written_at = max(turn.created_at, line.written_at) if line else turn.created_at
        in_story = turn.state is TurnState.DONE or turn.undone_at is not None
        return in_story and self._now() - written_at <= WINDOW

    async def _withdraw(self, scene: Scene, message_id: int) -> None:
        await self._changes.withdraw(message_id, scene.place.channel_id)
        self._recent.mark_withdrawn(scene.id, message_id)

    async def _report_unknown_author(self, scene: Scene, post: IncomingLine) -> None:
        """Announce that a post was not heard, once until another one is."""
        running = self._theatre.find_running(scene.id)
        playing = running is not None and running.scene.state is SceneState.PLAYING
        if playing and scene.id not in self._reported and read_beats(post, ""):
            self._reported.add(scene.id)
            await self._theatre.announce(scene, _UNKNOWN_AUTHOR)

    def _start_timer(self, act: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Act after the grace time, unless the returned task is cancelled before."""
        timer = asyncio.create_task(_act_later(act, self._grace))
        self._timers.add(timer)
        timer.add_done_callback(self._timers.discard)
        return timer


def _has_left_story(turn: Turn, line: RecentLine) -> bool:
    """Return whether the line left the story because its message was deleted."""
    return line.withdrawn and turn.state is TurnState.HIDDEN and turn.undone_at is None


def _recall(turn: Turn) -> RecentLine:
    """Return a line as far as it is stored."""
    content = Content(read_typed_text(turn.take), None)
    return RecentLine(turn.message_id or 0, turn.author_id or 0, content, turn.created_at)


async def _act_later(act: Callable[[], Awaitable[None]], delay: timedelta) -> None:
    await asyncio.sleep(delay.total_seconds())
    try:
        await act()
    except AsideError as error:
        _log.warning("A line of a proxy bot could not be dealt with: %s", error)
