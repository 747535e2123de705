"""A scene from its start to its end, also over restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import Refused
from bot.her.beats import BeatKind
from bot.scenes.reveal import Destination
from tests.scenes.scene_harness import ALICE, GM, open_harness, reply

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene

BENNET = reply("Mr Bennet", says="You refuse him, then?")


async def test_a_scene_survives_a_restart(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(await harness.start(), ALICE, "Elizabeth")
        scene = await harness.theatre.controls.reveal(
            scene, BeatKind.THOUGHT, Destination.SPOILER, GM
        )
        scene = await harness.theatre.controls.pause(scene, GM)
    async with open_harness(tmp_path, BENNET) as harness:
        assert harness.theatre.require_scene(10) == scene


async def test_two_scenes_never_hear_each_other(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        one = await harness.start(10)
        two = await harness.start(11)
        await harness.say(one, "The word is MARMALADE.", "Mr Bennet")
        await harness.say(two, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(one)
        await harness.wait_until_idle(two)
        by_mind = {request.mind: request.prompt.text for request in harness.engine.requests}
        assert "MARMALADE" in by_mind[f"{one.id}/Mr Bennet"]
        assert "MARMALADE" not in by_mind[f"{two.id}/Mr Bennet"]


async def test_a_channel_has_one_scene_at_a_time(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        with pytest.raises(Refused):
            await harness.start()
        await harness.theatre.end(scene, GM)
        assert harness.theatre.at(10) is None
        await harness.start()


async def test_the_end_of_a_scene_cancels_owed_replies(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.theatre.end(scene, GM)
        assert harness.engine.running == 0
        assert harness.delivery.shown == []
        assert await harness.store.find_owed_turns(scene.id) == []


async def test_a_discarded_scene_leaves_nothing_behind(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.theatre.discard(scene)
        assert harness.engine.running == 0
        assert harness.theatre.scenes() == ()
        assert await harness.store.scene(scene.id) is None
        await harness.start()


async def test_the_end_of_a_scene_is_reported(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        ended: list[int] = []

        async def note(scene: Scene) -> None:
            ended.append(scene.id)

        harness.theatre.on_end = note
        scene = await harness.start()
        await harness.theatre.end(scene, GM)
        assert ended == [scene.id]
