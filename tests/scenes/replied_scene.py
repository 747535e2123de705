"""A scene in which somebody asked and Mr Bennet replied: where second thoughts begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.scenes.harness import ALICE, reply

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.scenes.harness import House

FIRST, SECOND = reply("Mr Bennet", says="You refuse him?"), reply("Mr Bennet", says="You take him?")
MADAM = reply("Mrs Bennet", says="My nerves!")
REFUSES, TAKES = "smiles You refuse him?", "smiles You take him?"


async def answered(house: House, *, takes: int = 1) -> tuple[Scene, Turn]:
    """A scene in which Alice asked and Mr Bennet replied, so many times over, and that reply."""
    scene = await house.begin()
    await house.say(scene, "Papa?", "Mr Bennet")
    await house.quiet(scene)
    turn = (await house.theatre.queries.read_history(scene))[-1]
    for _ in range(takes - 1):
        await house.takes.retake(turn.id, ALICE)
        await house.quiet(scene)
    now = await house.store.turn(turn.id)
    assert now
    return scene, now


async def said(house: House, scene: Scene) -> str:
    return (await house.story(scene))[1][1]
