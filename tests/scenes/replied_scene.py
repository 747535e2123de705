"""A scene in which Alice asked and Mr Bennet replied, for tests of takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.scenes.scene_harness import ALICE, reply

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.scenes.scene_harness import TheatreHarness

FIRST = reply("Mr Bennet", says="You refuse him?")
SECOND = reply("Mr Bennet", says="You take him?")
MADAM = reply("Mrs Bennet", says="My nerves!")
REFUSES, TAKES = "smiles You refuse him?", "smiles You take him?"


async def answered(harness: TheatreHarness, *, takes: int = 1) -> tuple[Scene, Turn]:
    """Start a scene in which Alice asked and Mr Bennet replied. Return it with his reply."""
    scene = await harness.start()
    await harness.say(scene, "Papa?", "Mr Bennet")
    await harness.wait_until_idle(scene)
    turn = (await harness.theatre.queries.read_history(scene))[-1]
    for _ in range(takes - 1):
        await harness.takes.retake(turn.id, ALICE)
        await harness.wait_until_idle(scene)
    now = await harness.store.turn(turn.id)
    assert now
    return scene, now


async def said(harness: TheatreHarness, scene: Scene) -> str:
    return (await harness.read_story(scene))[1][1]
