"""What people say in a scene: heard, stored and given to whom it concerns, and what becomes of it later."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import PostingError, Remedy
from bot.her.player_text import is_out_of_character, parse_player_text
from bot.library.normalise import is_blank
from bot.scenes import cast, director
from bot.scenes.director import Addressee
from bot.scenes.interfaces import NewLine
from bot.scenes.notices import Notice
from bot.scenes.posts import PostPurpose
from bot.scenes.scene import Mode, SceneState
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from datetime import datetime

    from bot.her.beats import PublicBeat
    from bot.scenes.interfaces import SceneStore
    from bot.scenes.posts import Posts
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import RunningScene, Theatre
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)
_PAUSED = Notice("The scene is paused, so the characters hear nothing.", Remedy.UNPAUSE_SCENE)


@dataclass(frozen=True, slots=True)
class IncomingLine:
    """What a person wrote in a scene's channel."""

    author_id: int
    display_name: str
    message_id: int
    text: str

    def __repr__(self) -> str:
        return f"Said(author_id={self.author_id}, message_id={self.message_id}, {len(self.text)} characters)"


class PlayerLines:
    """Hears people in the scenes of a theatre. What one message says, and what is done to it later, is seen to in the
    order in which Discord told of it."""

    def __init__(
        self, theatre: Theatre, store: SceneStore, posts: Posts, now: Callable[[], datetime]
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._posts = posts
        self._now = now
        self._told: dict[
            tuple[int, int, str], Notice
        ] = {}  # who knows of whom why they give no answer

    async def hear(self, scene: Scene, said: IncomingLine, address: Addressee) -> bool:
        """Store what a person said and have it answered; return whether the scene took it.

        Lines out of character, empty ones and what is said while the scene rests are left alone.
        """
        running = self._theatre.running(scene.id)
        beats = (
            ()
            if is_blank(said.text) or is_out_of_character(said.text)
            else parse_player_text(said.text)
        )
        if running is None or not beats:
            return False
        async with running.lock:
            unheard = _unheard(running.scene, said.author_id, address)
            stored, silent = (False, unheard)
            if silent is None:
                stored, silent = await self._store_line(running, said, beats, address)
        await self._explain(scene, said.author_id, silent)
        return stored

    async def _store_line(
        self,
        running: RunningScene,
        said: IncomingLine,
        beats: tuple[PublicBeat, ...],
        address: Addressee,
    ) -> tuple[bool, Mapping[str, Notice]]:
        """Store a line and have it answered; return whether it was new, and who is spoken to in vain, and why."""
        scene = running.scene
        speaker = cast.speaker_name(scene, said.author_id, said.display_name)
        replied = await self._store.turn_by_message(address.reply_to) if address.reply_to else None
        names = await self._answering(scene, speaker, address, replied)
        line = NewLine(
            said.author_id, speaker, said.message_id, said.text, beats, heard_by=scene.audience
        )
        begun = running.runner.make_way(names)
        try:
            stored = await self._store.add_line(scene.id, line, names, self._now(), begun=begun)
        finally:
            if names or scene.mode is Mode.AUTO:
                running.runner.wake()
        silent = director.explain_silence(scene, address, speaker, replied)
        for name in {"", speaker, *names} - silent.keys():
            self._told.pop((scene.id, said.author_id, name), None)
        return bool(stored), silent

    async def _explain(self, scene: Scene, user_id: int, silent: Mapping[str, Notice]) -> None:
        """Tell somebody why there is no answer, once until there is one: an unexplained silence looks like a fault."""
        for name, notice in silent.items():
            if self._told.get((scene.id, user_id, name)) != notice:
                self._told[scene.id, user_id, name] = notice
                try:
                    await self._theatre.announce(scene, notice)
                except PostingError as error:
                    _log.warning(
                        "Scene %d: nobody could be told why there is no answer: %s", scene.id, error
                    )

    async def withdraw(self, scene: Scene, message_id: int) -> None:
        """Take out of the story what a deleted message said, and the answers still owed to it."""
        async with self._turn_to_change(scene, message_id) as turn:
            if turn is None or (
                turn.kind is TurnKind.REPLY and not await self._is_persona_post(turn, message_id)
            ):
                return
            await self._store.hide_turns(scene.id, [turn.id])
            for answer in await self._store.owed(scene.id):
                if turn.id in answer.answered and not await self._store.answer_less(
                    answer.id, turn.id
                ):
                    await self._store.give_up([answer.id])

    async def reword(self, scene: Scene, message_id: int, text: str) -> None:
        """Give a person's line the text its author edited it to. It is not answered anew."""
        async with self._turn_to_change(scene, message_id) as turn:
            if turn is not None and turn.kind is TurnKind.LINE and not is_blank(text):
                await self._store.reword_line(turn.id, text, parse_player_text(text))

    @asynccontextmanager
    async def _turn_to_change(self, scene: Scene, message_id: int) -> AsyncIterator[Turn | None]:
        """The turn of this scene that a message belongs to, once all that was said before has been heard."""
        running = self._theatre.running(scene.id)
        async with running.lock if running else asyncio.Lock():
            turn = await self._store.turn_by_message(message_id)
            yield turn if turn is not None and turn.scene_id == scene.id else None

    async def _is_persona_post(self, turn: Turn, message_id: int) -> bool:
        posts = await self._posts.posts(turn.id)
        return any(
            post.message_id == message_id and post.purpose is PostPurpose.PERSONA for post in posts
        )

    async def _answering(
        self, scene: Scene, speaker: str, address: Addressee, replied: Turn | None
    ) -> list[str]:
        turns = await self._store.turns(scene.id) if address.bot and not address.characters else []
        return director.choose_speakers(scene, address, speaker, replied, turns)

    async def last_heard(self, scene: Scene) -> int | None:
        """Return the id of the latest message of a person's that this scene has stored."""
        return await self._store.last_message_id(scene.id)


def _unheard(scene: Scene, user_id: int, address: Addressee) -> Mapping[str, Notice] | None:
    """Return what is said to somebody who is not heard now, by whom it concerns; None where they are heard."""
    if scene.state is not SceneState.PLAYING:
        return {"": _PAUSED} if address != Addressee() else {}
    if user_id in scene.muted:
        return {}
    part = scene.part_of(user_id)
    if part is not None and part.absent:
        return {
            part.character: Notice(
                f"{part.character} is off stage, so the characters don't hear them.",
                Remedy.ENTER_STAGE,
            )
        }
    return None
