"""Shows players' lines under the names and faces of their characters.

The line is posted again for the character, the post takes over its place in the story, and the
player's own message is deleted. The store knows which messages are about to be replaced, so a stop
between two of these steps leaves no line twice.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol
from weakref import WeakValueDictionary

from bot.errors import AsideError, PostingError, Refused
from bot.scenes import cast
from bot.scenes.director import Addressee
from bot.scenes.player_lines import IncomingLine
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from bot.scenes.line_changes import LineChanges, ReadAddress
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)


class RepostStore(Protocol):
    """Stores which messages are about to be replaced. Methods raise StoreError."""

    async def begin_repost(self, scene_id: int, message_id: int) -> None:
        """Store that a player's message is about to be posted again."""
        ...

    async def end_repost(self, message_id: int, posted_id: int | None = None) -> None:
        """Store the message that replaced another one, or that none did."""
        ...

    async def find_reposts(self, scene_id: int) -> list[int]:
        """Return the messages of a scene whose replacement did not end."""
        ...

    async def replacement_of(self, message_id: int) -> int | None:
        """Return the message that took the place of this one in the story, if one did."""
        ...


class LineVoice(Protocol):
    """Posts lines for characters. Methods raise PostingError unless they say otherwise."""

    async def require_persona_lines(self, scene: Scene) -> None:
        """Raise PostingError if lines can't be posted again in a scene's place."""
        ...

    async def post_line(self, scene: Scene, turn: Turn, text: str) -> int:
        """Post a line under its speaker's name and face. Return the message's id."""
        ...

    async def find_posted_line(self, scene: Scene, turn: Turn) -> int | None:
        """Return the message that shows the same text as the turn's own one, if it was posted."""
        ...

    async def delete_line(self, scene: Scene, message_id: int) -> bool:
        """Delete a message. Return whether it is gone. Raises no error."""
        ...


class PersonaLines:
    """Posts the lines of players who asked for it under their characters' names and faces."""

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        reposts: RepostStore,
        changes: LineChanges,
        voice: LineVoice,
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._reposts = reposts
        self._changes = changes
        self._voice = voice
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()  # by scene

    async def choose(self, scene: Scene, user_id: int, *, as_persona: bool) -> str:
        """Choose how a player's lines appear from now on. Return their character's name.

        Raises Refused if the user plays no character, and PostingError if Aside may not post or
        delete lines in the scene's place.
        """
        if as_persona:
            await self._voice.require_persona_lines(scene)
        changed = await self._theatre.change(
            scene, lambda now: cast.choose_voice(now, user_id, as_persona=as_persona)
        )
        part = changed.part_of(user_id)
        return part.character if part else ""

    async def show(
        self, scene: Scene, line: IncomingLine, address: Addressee, content: str
    ) -> None:
        """Post a stored line again, if its player asked for it. `content` is the message's text.

        If that fails, the player's message stays.
        """
        async with self._lock(scene):
            now = self._theatre.at(scene.place.channel_id)
            part = now.part_of(line.author_id) if now is not None else None
            if now is None or part is None or not part.speaks_as_persona:
                return
            turn = await self._store.turn_by_message(line.message_id)
            if turn is None or turn.state is not TurnState.DONE or turn.speaker != part.character:
                return
            if turn.take is None or not turn.take.beats:
                return
            await self._reposts.begin_repost(now.id, line.message_id)
            try:
                posted = await self._voice.post_line(now, turn, content)
            except PostingError as error:
                _log.warning("Turn %d stays as its player posted it: %s", turn.id, error)
                await self._reposts.end_repost(line.message_id)
                return
            await self._replace(now, turn, line, address, posted)

    async def resume(self, scene: Scene) -> None:
        """Finish what a stop interrupted. Errors are logged."""
        try:
            async with self._lock(scene):
                for message_id in await self._reposts.find_reposts(scene.id):
                    await self._resume(scene, message_id)
        except AsideError as error:
            _log.warning("Scene %d: lines could not be posted again: %s", scene.id, error)

    async def find_own_line(self, message_id: int, user_id: int) -> Turn | None:
        """Return the line of this user that a message shows for their character.

        Return None if the message shows anything else. Raises Refused if it shows another player's
        line, or if the user is muted.
        """
        turn = await self._store.turn_by_message(message_id)
        if turn is None or turn.kind is not TurnKind.LINE:
            return None
        if turn.author_id != user_id:
            raise Refused("Only the player who wrote this line can change it.")
        if (running := self._theatre.find_running(turn.scene_id)) is not None:
            cast.require_not_muted(running.scene, user_id)
        return turn

    async def reword(
        self, scene: Scene, turn: Turn, text: str, read_address: ReadAddress | None
    ) -> None:
        """Give a line another text after its post was edited."""
        edited = IncomingLine(turn.author_id or 0, turn.speaker, turn.message_id or 0, text)
        await self._changes.reword(edited, scene.place.channel_id, read_address)

    async def withdraw(self, scene: Scene, turn: Turn) -> None:
        """Delete a line and its post."""
        message_id = turn.message_id or 0
        await self._changes.withdraw(message_id, scene.place.channel_id)
        await self._voice.delete_line(scene, message_id)

    async def _resume(self, scene: Scene, message_id: int) -> None:
        if (replacement := await self._reposts.replacement_of(message_id)) is not None:
            await self._finish(scene, message_id, replacement)
            return
        turn = await self._store.turn_by_message(message_id)
        if turn is None or turn.state is TurnState.HIDDEN:
            await self._reposts.end_repost(message_id)
            return
        posted = await self._voice.find_posted_line(scene, turn)
        if posted is None:
            await self._reposts.end_repost(message_id)
            return
        raw = turn.take.raw if turn.take else ""
        line = IncomingLine(turn.author_id or 0, turn.speaker, message_id, raw)
        await self._replace(scene, turn, line, Addressee(), posted)

    async def _replace(
        self, scene: Scene, turn: Turn, line: IncomingLine, address: Addressee, posted: int
    ) -> None:
        """Let a post take the place of the player's message, and delete that one."""
        now = await self._store.turn(turn.id)
        if now is not None and now.state is not TurnState.HIDDEN:
            replacing = replace(line, message_id=posted)
            await self._changes.take_over(scene, line.message_id, replacing, address)
        if await self._store.turn_by_message(posted) is None:  # the line left the story meanwhile
            await self._voice.delete_line(scene, posted)
            await self._reposts.end_repost(line.message_id)
            return
        await self._finish(scene, line.message_id, posted)

    async def _finish(self, scene: Scene, message_id: int, posted: int) -> None:
        """Delete a replaced message. If Discord refuses, the next start tries again."""
        if await self._voice.delete_line(scene, message_id):
            await self._reposts.end_repost(message_id, posted)

    def _lock(self, scene: Scene) -> asyncio.Lock:
        """Return the lock that keeps a scene's lines in order."""
        return self._locks.setdefault(scene.id, asyncio.Lock())
