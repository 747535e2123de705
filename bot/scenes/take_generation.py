"""Generates the take of an owed turn, if the model still owes it, and stores it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import PostingError
from bot.scenes import narrator
from bot.scenes.notices import Notice
from bot.scenes.outage_retry import retry_until_done
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.her.beats import PublicBeat
    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.reply_generation import GeneratedReply
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)

_NOT_STORED = (
    "The reply of {speaker} is ready but can't be stored at the moment. It will appear as soon as "
    "it is stored. Whoever runs Aside finds the reason in its log."
)


@dataclass(slots=True)
class Generation:
    """The task that generates a take for a turn.

    `shown` is True once part of the reply may be visible, `dropped` once the task was cancelled
    because the turn is no longer owed, or because another turn will answer instead.
    """

    turn: Turn
    task: asyncio.Task[Turn | None]
    shown: bool = False
    dropped: bool = False

    def drop(self) -> None:
        """Cancel the generation. The engine frees its slot at once."""
        self.dropped = True
        self.task.cancel()


class TakeGenerator:
    """Generates and stores the takes of one scene's owed turns, one at a time.

    `scene` returns the scene's current state. `history_cut` is called if the oldest turns no longer
    fit the context. `current` is the generation under way. `partly_shown` is whether people may
    have seen part of the turn generated last.
    """

    def __init__(
        self,
        dependencies: SceneDependencies,
        scene: Callable[[], Scene],
        history_cut: Callable[[], Awaitable[None]],
    ) -> None:
        self._dependencies = dependencies
        self._store = dependencies.store
        self._delivery = dependencies.delivery
        self._scene = scene
        self._history_cut = history_cut
        self.current: Generation | None = None
        self.partly_shown = False

    async def generate(self, turn: Turn) -> Turn | None:
        """Return the turn with its stored take, or None if the turn is no longer owed."""
        task = asyncio.create_task(self._claim_and_generate(turn))
        generation = self.current = Generation(turn, task)
        try:
            return await task
        except asyncio.CancelledError:
            if is_cancelled() or not generation.dropped:
                raise
            return None
        finally:
            self.partly_shown = generation.shown
            self.current = None

    async def claim(self, turn: Turn) -> bool:
        """Return whether the model still owes this turn. Give it up if a player took the part."""
        current = await self._store.turn(turn.id)
        if current is None or current.state is not TurnState.THINKING:
            return False
        part = self._scene().find_part(turn.speaker)
        if turn.kind is TurnKind.NARRATION or (part is not None and part.answers):
            return True
        await self._store.give_up([turn.id])
        return False

    async def _claim_and_generate(self, turn: Turn) -> Turn | None:
        if not await self.claim(turn):
            return None
        if turn.take is not None:  # saved, but not delivered, before the program stopped
            return turn
        generated = await self._generate(turn)
        name = f"Turn {turn.id}"
        if generated.history_cut:
            await retry_until_done(self._history_cut, name)
        return await retry_until_done(
            lambda: self._save(turn, generated),
            name,
            on_first_failure=lambda _: self._report_not_stored(turn),
        )

    async def _generate(self, turn: Turn) -> GeneratedReply:
        async with self._delivery.show_thinking(self._scene(), turn):
            if turn.kind is TurnKind.NARRATION:
                return await self._narrate(turn)
            return await self._reply(turn)

    async def _narrate(self, turn: Turn) -> GeneratedReply:
        scene = self._scene()
        known = await self._dependencies.minds.recall_public(scene, turn.id)
        return await narrator.generate_narration(self._dependencies.generator, scene, known)

    async def _reply(self, turn: Turn) -> GeneratedReply:
        generator = self._dependencies.generator
        scene = self._scene()

        async def progress(beats: tuple[PublicBeat, ...]) -> None:
            await self._show_progress(turn, beats)

        begun = turn.lengthens.beats if turn.lengthens else ()
        assembled = await self._dependencies.minds.assemble(
            scene, turn.speaker, before=turn.id, begun=begun
        )
        if turn.lengthens is not None:
            return await generator.extend(scene, turn.speaker, assembled, begun, progress)
        return await generator.reply(scene, turn.speaker, assembled, progress)

    async def _show_progress(self, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        if turn.public:  # a whisper never streams into the channel
            if self.current is not None:
                self.current.shown = True
            await self._delivery.progress(self._scene(), turn, beats)

    async def _save(self, turn: Turn, generated: GeneratedReply) -> Turn | None:
        """Store the take, if the turn did not leave the story during the generation."""
        if not await self.claim(turn):
            return None
        return await self._store.keep_take(turn.id, generated.beats, generated.raw, generated.seed)

    async def _report_not_stored(self, turn: Turn) -> None:
        notice = Notice(_NOT_STORED.format(speaker=turn.speaker))
        try:
            await self._delivery.announce(self._scene(), notice)
        except PostingError as error:
            _log.warning(
                "Turn %d can't be stored, and the notice can't be posted: %s", turn.id, error
            )


def is_cancelled() -> bool:
    """Return whether the current task is cancelled, and not only a task that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
