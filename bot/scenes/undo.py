"""Undoes turns: rewinds a story to an earlier turn, hides one turn, and brings turns back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.errors import Refused
from bot.scenes.cast import require_gm
from bot.scenes.owed_answers import give_up_answers
from bot.scenes.turn import TurnKind, TurnState
from bot.scenes.turn_rights import SCENE_GONE, require_turn
from bot.scenes.turn_selection import TurnSelection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from bot.scenes.scene import Scene
    from bot.scenes.scene_delivery import Delivery
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.takes import Takes
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn

_REPLIES: Final = TurnSelection(kind=TurnKind.REPLY, done=True)


@dataclass(frozen=True, slots=True)
class Undone:
    """The turns that were undone, or restored, together.

    `moment` identifies the undo, in microseconds since 1970. It is missing if no turn can be
    restored.
    """

    scene: Scene
    moment: int | None
    turns: tuple[Turn, ...]


class Undo:
    """Removes turns from a story and brings them back, for game masters.

    Methods raise Refused for other people. Undone turns stay stored, and their posts stay in the
    channel, covered. `show` updates the posts, which may take a while.
    """

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        delivery: Delivery,
        takes: Takes,
        now: Callable[[], datetime],
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._delivery = delivery
        self._takes = takes
        self._now = now

    async def count_later_turns(self, turn_id: int, by: int) -> int:
        """Return the number of turns that a rewind to this one undoes.

        Raises Refused if it undoes no turn.
        """
        turn, _ = await require_turn(self._theatre, self._store, turn_id, by)
        later = await self._select_later(turn)
        done = await self._store.count_turns(turn.scene_id, replace(later, done=True))
        owed = await self._store.find_owed_turns(turn.scene_id)
        return done + sum(one.id > turn.id and one.take is not None for one in owed)

    async def rewind(self, turn_id: int, by: int) -> Undone:
        """Undo every turn after this one."""
        turn, running = await require_turn(self._theatre, self._store, turn_id, by)
        async with running.lock:
            later = await self._select_later(turn)
            undone = await self._undo(running.scene, await self._store.turns(turn.scene_id, later))
        await running.runner.drop_if_not_owed()
        return undone

    async def hide(self, turn_id: int, by: int) -> Undone:
        """Remove one turn from the story, and the answers that it is owed.

        Raises Refused if the turn is not part of the story.
        """
        turn, running = await require_turn(self._theatre, self._store, turn_id, by)
        if turn.state is not TurnState.DONE:
            raise Refused("That message is not part of the story, so it can't be hidden.")
        async with running.lock:
            await give_up_answers(self._store, turn)
            undone = await self._undo(running.scene, [turn])
        await running.runner.drop_if_not_owed()
        running.runner.restart_without(turn)
        return undone

    async def unhide(self, scene_id: int, moment: int | None, by: int) -> Undone:
        """Restore the turns that were undone at that moment, by default the latest ones."""
        running = self._theatre.find_running(scene_id)
        if running is None:
            raise Refused(SCENE_GONE)
        require_gm(running.scene, by)
        async with running.lock:
            moment = moment or await self._store.last_undone(scene_id)
            turns = await self._store.restore(scene_id, moment) if moment else []
        if not turns:
            raise Refused(
                "No turns are left to bring back. They are part of the story already, or the story"
                " was cleared."
            )
        return Undone(running.scene, moment, tuple(turns))

    async def show(self, undone: Undone) -> None:
        """Update the posts of these turns, and the buttons of the latest reply.

        Raises PostingError.
        """
        if running := self._theatre.find_running(undone.scene.id):
            for turn in undone.turns:
                await running.runner.wait_for_delivery(turn.id)
        latest_first = undone.turns[0].state is TurnState.HIDDEN
        for turn in sorted(undone.turns, key=lambda turn: turn.id, reverse=latest_first):
            if turn.take is not None:
                await self._takes.align(undone.scene, turn.id)
            elif turn.kind is not TurnKind.LINE:
                await self._delivery.cover(undone.scene, turn)
        for turn in await self._store.latest_turns(undone.scene.id, 1, _REPLIES):
            await self._takes.align(undone.scene, turn.id)

    async def _select_later(self, turn: Turn) -> TurnSelection:
        """Return the selection of the turns after this one. Raise Refused if it selects none."""
        if turn.state is not TurnState.DONE:
            raise Refused(
                "That message is not part of the story, so the story can't go back to it."
            )
        later = TurnSelection(since=turn.id + 1)
        if not await self._store.latest_turns(turn.scene_id, 1, later):
            raise Refused("That is the latest turn, so a rewind to it undoes no turn.")
        return later

    async def _undo(self, scene: Scene, turns: Sequence[Turn]) -> Undone:
        undone = await self._store.undo(scene.id, [turn.id for turn in turns], self._now())
        moment = undone[0].undone_at if undone else None
        current = await self._store.turns_by_id([turn.id for turn in turns])
        return Undone(scene, moment, tuple(current))
