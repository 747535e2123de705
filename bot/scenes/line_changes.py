"""Follows the edits and deletions of the messages that show a story."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from bot.errors import PostingError
from bot.library.name_matching import addressable_names, find_addressed
from bot.library.normalise import is_blank
from bot.scenes import cast
from bot.scenes.owed_answers import give_up_answers
from bot.scenes.player_lines import choose_answers, find_replied, read_beats, read_typed_text
from bot.scenes.posts import PostPurpose
from bot.scenes.scene import Mode, SceneState
from bot.scenes.silences import current_silences
from bot.scenes.turn import TurnKind, TurnState
from bot.scenes.turn_selection import TurnSelection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime

    from bot.scenes.director import Addressee
    from bot.scenes.player_lines import IncomingLine
    from bot.scenes.posts import Posts, ShownMessage
    from bot.scenes.running_scenes import RunningScene
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)

ReadAddress: TypeAlias = "Callable[[Scene], Addressee]"
"""Returns whom an edited line addresses in a scene."""


class LineChanges:
    """Changes stories when messages change on Discord.

    A change reaches the story in which the message was said, wherever it plays now, also after its
    end, and every branch that copied the turn.
    """

    def __init__(
        self, theatre: Theatre, store: SceneStore, posts: Posts, now: Callable[[], datetime]
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._posts = posts
        self._now = now

    async def list_messages(self, scene: Scene, most: int) -> list[ShownMessage]:
        """Return the latest messages that show a scene's story, oldest first."""
        return await self._store.find_shown_messages(scene.id, most)

    async def withdraw(self, message_id: int, channel_id: int) -> None:
        """Remove a message that was deleted in this channel from every story.

        The answers that it is owed are given up. If it was one of several messages of a turn, the
        others are deleted too: what the channel shows is what the characters remember.
        """
        async with self._lock_turn(message_id, channel_id) as turn:
            if turn is None or (
                turn.kind is TurnKind.REPLY and not await self._is_persona_post(turn, message_id)
            ):
                return
            await self._hide(turn)
        scene = await self._scene_of(turn)
        if turn.kind is not TurnKind.LINE and scene is not None:
            try:
                await self._theatre.remove_posts(scene, turn)
            except PostingError as error:
                _log.warning("The other messages of turn %d can't be deleted: %s", turn.id, error)
        for copy in await self._store.copies_of(turn.id):
            async with self._lock(copy.scene_id):
                await self._hide(copy)

    async def reword(
        self, edited: IncomingLine, channel_id: int, read_address: ReadAddress | None
    ) -> None:
        """Replace the text of a line that its author edited in this channel.

        The line counts like a new one with this text: without words, or from a muted person, it
        leaves every mind, and a message without words gets none while its author is not heard. The
        characters that the new text addresses answer it, and the others no longer do; see
        `_answer_edit`. A reply that was not shown yet starts again. Without `read_address`,
        the edit changes no answers.
        """
        async with self._lock_turn(edited.message_id, channel_id) as turn:
            if turn is None or turn.kind is not TurnKind.LINE:
                return
            await self._reword(turn, edited, read_address)
        for copy in await self._store.copies_of(turn.id):
            async with self._lock(copy.scene_id):
                await self._reword(copy, edited, None)

    async def take_over(
        self, scene: Scene, replaced_id: int, line: IncomingLine, address: Addressee
    ) -> None:
        """Let a proxy bot's post take the place of the message `replaced_id`.

        The line keeps its author and its place in the story. The characters that answer it go on,
        and characters that only the post addresses answer it too. The deletion of the replaced
        message changes nothing afterwards.
        """
        async with self._lock_turn(replaced_id, scene.place.channel_id) as turn:
            if turn is None or turn.kind is not TurnKind.LINE:
                return
            current = await self._scene_of(turn) or scene
            speaker = cast.speaker_name(current, line.author_id, line.display_name)
            beats = read_beats(line, speaker)
            text = line.raw if beats else ""
            await self._store.take_over_line(turn.id, line.message_id, speaker, text, beats)
            running = self._theatre.find_running(turn.scene_id)
            if not beats:
                await self._stop_answers(turn)
            elif (
                running is not None
                and turn.state is TurnState.DONE
                and current_silences(running.scene).is_heard(line.author_id)
            ):
                await self._answer_edit(running, replace(turn, speaker=speaker), address)

    async def _reword(
        self, turn: Turn, edited: IncomingLine, read_address: ReadAddress | None
    ) -> None:
        scene = await self._scene_of(turn)
        had_words = bool(read_typed_text(turn.take))
        author_id = turn.author_id or edited.author_id
        heard = scene is not None and _is_heard(scene, author_id, had_words=had_words)
        if not (heard or had_words or scene is None or author_id in scene.muted):
            return
        beats = read_beats(edited, turn.speaker) if heard else ()
        text = edited.raw if beats else ""
        if turn.take is not None and turn.take.raw == text and turn.take.beats == beats:
            return
        await self._store.reword_line(turn.id, text, beats)
        running = self._theatre.find_running(turn.scene_id)
        if not beats or (had_words and is_blank(edited.text)):
            await self._stop_answers(turn)
        elif running is not None and turn.state is TurnState.DONE:
            if read_address is not None:
                await self._answer_edit(running, turn, read_address(running.scene))
            running.runner.restart_without(turn)

    async def _answer_edit(self, running: RunningScene, turn: Turn, address: Addressee) -> None:
        """Let the addressed characters answer an edited line, and only them.

        Characters that answer it already do so once, and a reply that people see is finished. If
        others spoke after the line, only characters that the old text did not address answer.
        """
        scene = running.scene
        if scene.state is not SceneState.PLAYING:
            return
        replied = await find_replied(self._store, scene, address)
        names = await choose_answers(self._store, scene, turn.speaker, address, replied)
        answers = await self._store.turns(scene.id, TurnSelection(answering=turn.id))
        if answers and not (address.characters or replied):
            return  # the bot was mentioned without a name, and somebody answers
        for answer in answers:
            if answer.speaker not in names and _may_be_dropped(running, answer):
                await self._drop_answer(answer, turn)
        await running.runner.drop_if_not_owed()
        had_words = bool(read_typed_text(turn.take))
        known = {answer.speaker for answer in answers}
        latest = (await self._store.latest_turns(scene.id, 1))[-1]
        if had_words and turn.take is not None and latest.id != turn.id:
            spoken = addressable_names(scene.scenario.characters)
            known |= {
                *find_addressed(turn.take.raw, spoken),
                *([replied.speaker] if replied else []),
            }
            names = names if address.characters or replied else []
        new = [name for name in names if turn.is_heard_by(name) and name not in known]
        for name in new:
            await self._store.add_reply(
                scene.id, name, turn.id, self._now(), heard_by=scene.audience
            )
        if new or (scene.mode is Mode.AUTO and not had_words):
            running.runner.wake()

    async def _drop_answer(self, answer: Turn, line: Turn) -> None:
        if not await self._store.drop_answered_line(answer.id, line.id):
            await self._store.give_up([answer.id])

    async def _hide(self, turn: Turn) -> None:
        await self._store.hide_turns(turn.scene_id, [turn.id])
        await self._stop_answers(turn)

    async def _stop_answers(self, turn: Turn) -> None:
        """Give up the answers that are owed only to this line, and stop their generation."""
        await give_up_answers(self._store, turn)
        if running := self._theatre.find_running(turn.scene_id):
            await running.runner.drop_if_not_owed()
            running.runner.restart_without(turn)

    async def _scene_of(self, turn: Turn) -> Scene | None:
        """Return the scene of a turn as it is now."""
        running = self._theatre.find_running(turn.scene_id)
        return running.scene if running else await self._store.scene(turn.scene_id)

    @asynccontextmanager
    async def _lock_turn(self, message_id: int, channel_id: int) -> AsyncIterator[Turn | None]:
        """Yield the turn that a message belongs to, after all earlier lines of its channel."""
        here = self._theatre.at(channel_id)
        async with self._lock(here.id if here else 0):
            turn = await self._store.turn_by_message(message_id)
        async with self._lock(turn.scene_id if turn else 0):
            yield await self._store.turn_by_message(message_id)

    def _lock(self, scene_id: int) -> asyncio.Lock:
        running = self._theatre.find_running(scene_id)
        return running.lock if running else asyncio.Lock()

    async def _is_persona_post(self, turn: Turn, message_id: int) -> bool:
        return any(
            post.message_id == message_id and post.purpose is PostPurpose.PERSONA
            for post in await self._posts.posts(turn.id)
        )


def _is_heard(scene: Scene, author_id: int, *, had_words: bool) -> bool:
    """Return whether a person's edit counts. Words that are new need a person who is heard now."""
    if author_id in scene.muted:
        return False
    if had_words:
        return True
    return scene.state is not SceneState.ENDED and current_silences(scene).is_heard(author_id)


def _may_be_dropped(running: RunningScene, answer: Turn) -> bool:
    """Return whether an answer is owed, has no earlier take, and was not shown yet."""
    return (
        answer.state is TurnState.THINKING
        and answer.take is None
        and not answer.takes
        and not running.runner.has_shown(answer.id)
    )
