"""Pause, clear, reveal, join and leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import NameNotFound, Refused
from bot.her.beats import BeatKind
from bot.scenes.reveal import Destination
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness, reply

if TYPE_CHECKING:
    from pathlib import Path


BENNET = reply("Mr Bennet", says="You refuse him, then?")


async def test_a_paused_scene_does_not_hear_and_later_continues(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.pause(await harness.start(), GM)
        await harness.say(scene, "Papa?", "Mr Bennet")
        scene = await harness.theatre.controls.unpause(scene, GM)
        await harness.say(scene, "Papa, now?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert next(text for _, text in await harness.read_story(scene)) == "Papa, now?"


async def test_only_the_gm_directs(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        for forbidden in (
            harness.theatre.controls.pause(scene, ALICE),
            harness.theatre.controls.unpause(scene, ALICE),
            harness.theatre.controls.clear(scene, ALICE),
            harness.theatre.end(scene, ALICE),
            harness.theatre.queries.read_prompt(scene, "Mr Bennet", ALICE),
            harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, None, ALICE),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await forbidden
        await harness.theatre.end(scene, ALICE, moderates=True)


async def test_clear_removes_every_turn_from_every_mind(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "MARMALADE", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert await harness.theatre.controls.clear(scene, GM) == 2
        assert "MARMALADE" not in await harness.theatre.queries.read_prompt(scene, "Mr Bennet", GM)


async def test_reveal_toggles_between_private_and_public(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        assert (scene.reveal.thoughts, scene.reveal.planning) == (Destination.GM, Destination.GM)
        scene = await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, None, GM)
        assert (scene.reveal.thoughts, scene.reveal.planning) == (
            Destination.SPOILER,
            Destination.GM,
        )
        scene = await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, None, GM)
        assert scene.reveal.thoughts is Destination.GM
        scene = await harness.theatre.controls.reveal(scene, BeatKind.PLANNING, Destination.OFF, GM)
        assert scene.reveal.planning is Destination.OFF


async def test_join_and_leave_follow_the_rules_of_the_cast(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(await harness.start(), ALICE, "Papa")
        with pytest.raises(Refused, match="Another player"):
            await harness.theatre.controls.join(scene, BOB, "Mr Bennet")
        with pytest.raises(NameNotFound, match="Elizabeth Bennet"):
            await harness.theatre.controls.join(scene, BOB, "Elisabet Benet")
        scene = await harness.theatre.controls.join(scene, ALICE, "Mrs Bennet")
        assert scene.part("Mr Bennet").by_model
        assert await harness.theatre.controls.leave(scene, ALICE) == "Mrs Bennet"
        with pytest.raises(Refused):
            await harness.theatre.controls.leave(scene, ALICE)
