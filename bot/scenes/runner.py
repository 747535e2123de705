"""The runner plays what one scene owes: one task, alive only while something is owed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import AsideError, PostingError
from bot.scenes.scene import SceneState
from bot.scenes.turn import TurnState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.her.beats import PublicBeat
    from bot.scenes.performance import Performance, Performed
    from bot.scenes.ports import SceneStore, Stage
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)
_UNEXPECTED = "Something went wrong inside Aside; its log has the details. Nothing is lost: try again."


@dataclass(frozen=True, slots=True)
class Playhouse:
    """What every runner plays with."""

    store: SceneStore
    stage: Stage
    performance: Performance


class Runner:
    """Settles the owed turns of one scene, one after the other, while it is playing.

    `scene` returns the scene as it is now; `history_cut` is called when turns had to leave the context.
    """

    def __init__(
        self, house: Playhouse, scene: Callable[[], Scene], history_cut: Callable[[], Awaitable[None]]
    ) -> None:
        self._house = house
        self._scene = scene
        self._history_cut = history_cut
        self._wanted = False
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """See to it that everything owed is played. Costs nothing where the runner is at it already."""
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"scene {self._scene().id}")

    async def rest(self) -> None:
        """Wait until everything that can be played now has been."""
        while self._task is not None and not self._task.done():
            await asyncio.wait((self._task,))

    async def stop(self) -> None:
        """Stop at once. What is owed stays owed, in the store."""
        self._wanted = False
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while self._wanted:
            self._wanted = False
            try:
                for turn in await self._house.store.owed(self._scene().id):
                    if self._scene().state is SceneState.PLAYING:
                        await self._settle(turn)
            except AsideError as error:
                _log.error("Scene %d rests until it is next spoken to: %s", self._scene().id, error)

    async def _settle(self, turn: Turn) -> None:
        try:
            if await self._still_owed(turn):
                take = turn.take or await self._perform(turn)
                if take is not None:
                    await self._house.stage.deliver(self._scene(), turn, take)
                    await self._house.store.settle(turn.id)
        except AsideError as error:
            _log.warning("Turn %d failed: %s", turn.id, error, exc_info=error.__cause__)
            await self._fail(turn, str(error))
        except Exception:
            _log.exception("Turn %d failed", turn.id)
            await self._fail(turn, _UNEXPECTED)

    async def _perform(self, turn: Turn) -> Take | None:
        """Have the turn played and keep the take; None where the turn was taken out of the story meanwhile."""

        async def progress(beats: tuple[PublicBeat, ...]) -> None:
            await self._house.stage.progress(self._scene(), turn, beats)

        store = self._house.store
        earlier = [told for told in await store.turns(turn.scene_id) if told.id < turn.id]
        story = [told for told in earlier if told.state is TurnState.DONE]
        async with self._house.stage.thinking(self._scene(), turn):
            performed = await self._house.performance.reply(self._scene(), turn.speaker, story, progress)
        if performed.left_out:
            await self._history_cut()
        return await self._keep(turn, performed)

    async def _keep(self, turn: Turn, performed: Performed) -> Take | None:
        if not await self._still_owed(turn):
            return None
        kept = await self._house.store.keep_take(turn.id, performed.beats, performed.raw, performed.seed)
        return kept.take

    async def _still_owed(self, turn: Turn) -> bool:
        """Whether the model still has to play this turn; where a player took the part, it is given up."""
        now = await self._house.store.turn(turn.id)
        if now is None or now.state is not TurnState.THINKING:
            return False
        if self._scene().part(turn.speaker).by_model:
            return True
        await self._house.store.give_up([turn.id])
        return False

    async def _fail(self, turn: Turn, sentence: str) -> None:
        failed = await self._house.store.fail(turn.id, sentence)
        try:
            if failed.state is TurnState.DONE:
                await self._house.stage.tell(self._scene(), f"{sentence} What {turn.speaker} said before stands.")
            else:
                await self._house.stage.fail(self._scene(), turn, sentence)
        except PostingError as error:
            _log.error("Turn %d failed, and the channel could not be told: %s", turn.id, error)
