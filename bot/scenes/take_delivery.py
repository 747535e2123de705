"""Delivers a take together with the reveal decision that is in force when it is posted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.scenes.take_destinations import decide

if TYPE_CHECKING:
    from bot.scenes.interfaces import Delivery, SceneStore
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn


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
