"""Delivers takes, each with the reveal decision that is in force when it is posted."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.errors import PostingError, StoreError, StoreUnavailable
from bot.scenes.take_destinations import decide
from bot.scenes.turn import TurnState

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.scene import Scene
    from bot.scenes.scene_delivery import Delivery
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)


async def deliver_take(
    delivery: Delivery, store: SceneStore, scene: Scene, turn: Turn, take: Take
) -> None:
    """Store the reveal decision with a take that has none, then post it.

    Later changes of the scene's policy do not affect the take. If the post fails, pass the same
    `take` again: the next attempt decides again. Raises PostingError.
    """
    decided = decide(take, scene.reveal)
    if decided != take and any(decided.destinations):
        await store.save_destinations(decided.id, decided.destinations)
    await delivery.deliver(scene, turn, decided)


class TakeDelivery:
    """Delivers the takes of one scene's owed turns, and withdraws posts of turns not owed any more.

    `scene` returns the scene's current state.
    """

    def __init__(self, dependencies: SceneDependencies, scene: Callable[[], Scene]) -> None:
        self._store = dependencies.store
        self._delivery = dependencies.delivery
        self._scene = scene
        self._delivering: tuple[int, asyncio.Event] | None = None  # a turn's id, set at the end

    async def wait_for(self, turn_id: int) -> None:
        """Wait if a take of this turn is being delivered: people see it before it is stored."""
        if self._delivering is not None and self._delivering[0] == turn_id:
            await self._delivering[1].wait()

    async def deliver(self, turn: Turn, take: Take) -> None:
        """Post a take and mark its turn done, if the turn is still owed."""
        delivered = asyncio.Event()
        self._delivering = (turn.id, delivered)
        try:
            current = await self._store.turn(turn.id)
            if current is None or current.state is not TurnState.THINKING:
                return
            await deliver_take(self._delivery, self._store, self._scene(), turn, take)
            settled = await self._settle(turn)
            if settled is None or (settled.state is TurnState.HIDDEN and not settled.undone_at):
                await self._withdraw_posts(replace(settled or turn, take=None))
        finally:
            self._delivering = None
            delivered.set()

    async def _settle(self, turn: Turn) -> Turn | None:
        """Mark a delivered turn done. Return its state, if it is still stored."""
        try:
            return await self._store.settle(turn.id)
        except StoreUnavailable:
            raise
        except StoreError:
            return await self._store.turn(turn.id)

    async def withdraw(self, turn: Turn) -> None:
        """Remove the visible part of a reply that is not owed any more."""
        current = await self._store.turn(turn.id)
        await self._withdraw_posts(current or replace(turn, take=None))

    async def _withdraw_posts(self, turn: Turn) -> None:
        try:
            await self._delivery.withdraw(self._scene(), turn)
        except PostingError as error:
            _log.error(
                "Turn %d is no longer owed, but its posts can't be removed: %s", turn.id, error
            )
