"""Undoing: a story taken back to one of its turns, or without one of them, and what was undone brought back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import Refused
from bot.scenes.theatre import require_gm
from bot.scenes.turn import TurnKind, TurnState
from bot.scenes.turn_rights import SCENE_GONE, require_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from bot.scenes.interfaces import Delivery
    from bot.scenes.scene import Scene
    from bot.scenes.take_store import TakeStore
    from bot.scenes.takes import Takes
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn


@dataclass(frozen=True, slots=True)
class Undone:
    """What was undone together, or brought back. `moment` names it, in microseconds since 1970; None: it was nothing
    that can be brought back."""

    scene: Scene
    moment: int | None
    turns: tuple[Turn, ...]


class Undo:
    """Takes turns out of a story and brings them back. For game masters; raises Refused for others.

    What is undone stays stored, and its posts stay where they are, covered: `show` sees to those, and may take a while.
    """

    def __init__(
        self,
        theatre: Theatre,
        store: TakeStore,
        stage: Delivery,
        takes: Takes,
        now: Callable[[], datetime],
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._stage = stage
        self._takes = takes
        self._now = now

    async def count_later_turns(self, turn_id: int, by: int) -> int:
        """Return how many turns a rewind to this one would undo. Raises Refused where there are none."""
        turn, _ = await require_turn(self._theatre, self._store, turn_id, by)
        return sum(
            told.state is TurnState.DONE or told.take is not None
            for told in await self._later(turn)
        )

    async def rewind(self, turn_id: int, by: int) -> Undone:
        """Undo everything after this turn."""
        turn, running = await require_turn(self._theatre, self._store, turn_id, by)
        async with running.lock:
            return await self._undo(running.scene, await self._later(turn))

    async def hide(self, turn_id: int, by: int) -> Undone:
        """Take one turn out of the story, and the answers still owed to it. Raises Refused where it is none of it."""
        turn, running = await require_turn(self._theatre, self._store, turn_id, by)
        if turn.state is not TurnState.DONE:
            raise Refused("That message is not part of the story, so it can't be hidden.")
        async with running.lock:
            for answer in await self._store.owed(turn.scene_id):
                if turn.id in answer.answered and not await self._store.answer_less(
                    answer.id, turn.id
                ):
                    await self._store.give_up([answer.id])
            return await self._undo(running.scene, [turn])

    async def unhide(self, scene_id: int, moment: int | None, by: int) -> Undone:
        """Bring back what was undone at that moment; None: what was undone last."""
        running = self._theatre.running(scene_id)
        if running is None:
            raise Refused(SCENE_GONE)
        require_gm(running.scene, by)
        async with running.lock:
            moment = moment or await self._store.last_undone(scene_id)
            turns = await self._store.restore(scene_id, moment) if moment else []
        if not turns:
            raise Refused(
                "No turns are left to bring back. They are already part of the story again."
            )
        return Undone(running.scene, moment, tuple(turns))

    async def show(self, undone: Undone) -> None:
        """Make the channel show what has become of these turns, and which reply is the latest now.

        Raises PostingError.
        """
        if running := self._theatre.running(undone.scene.id):
            for turn in undone.turns:
                await running.runner.delivered(turn.id)
        for turn in sorted(
            undone.turns,
            key=lambda turn: turn.id,
            reverse=undone.turns[0].state is TurnState.HIDDEN,
        ):
            if turn.take is not None:
                await self._takes.align(undone.scene, turn.id)
            elif turn.kind is not TurnKind.LINE:
                await self._stage.cover(undone.scene, turn)
        replies = (
            turn
            for turn in reversed(await self._store.turns(undone.scene.id))
            if turn.kind is TurnKind.REPLY
        )
        if latest := next((reply for reply in replies if reply.state is TurnState.DONE), None):
            await self._takes.align(undone.scene, latest.id)

    async def _later(self, turn: Turn) -> list[Turn]:
        if turn.state is not TurnState.DONE:
            raise Refused(
                "That message is not part of the story, so the story can't go back to it."
            )
        later = [told for told in await self._store.turns(turn.scene_id) if told.id > turn.id]
        if not later:
            raise Refused("That is the latest turn, so there is nothing after it to undo.")
        return later

    async def _undo(self, scene: Scene, turns: Sequence[Turn]) -> Undone:
        undone = await self._store.undo(scene.id, [turn.id for turn in turns], self._now())
        moment = undone[0].undone_at if undone else None
        gone = [now for turn in turns if (now := await self._store.turn(turn.id)) is not None]
        return Undone(scene, moment, tuple(gone))
