"""Scenes that move between a terminal and Discord."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import NameNotFound, Refused, Remedy
from bot.scenes.scene import AT_TERMINAL, Place, SceneState
from tests.scenes.scene_harness import ALICE, BOB, GM, STUDY, open_harness, reply

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from tests.scenes.scene_harness import TheatreHarness

BENNET = reply("Mr Bennet", says="You refuse him?")
DESK = Place(AT_TERMINAL, -1)
CHANNEL = Place(guild_id=1, channel_id=10)
OWNER = (BOB, AT_TERMINAL)  # Bob runs the program


async def at_the_desk(harness: TheatreHarness) -> Scene:
    """Return a scene from a terminal, in which its player is Elizabeth and was answered."""
    scene = await harness.theatre.start(DESK, STUDY, AT_TERMINAL)
    scene = await harness.theatre.controls.join(scene, AT_TERMINAL, "Elizabeth")
    harness.ids = iter([-7])  # type: ignore[assignment]
    await harness.say(scene, "MARMALADE, Papa?", "Mr Bennet", author=AT_TERMINAL)
    await harness.wait_until_idle(scene)
    return scene


async def test_a_scene_at_a_terminal_is_not_opened_on_discord(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        await at_the_desk(harness)
    async with open_harness(tmp_path, BENNET) as harness:
        assert harness.theatre.scenes() == ()


async def test_a_scene_from_a_terminal_moves_to_a_channel_with_its_part_and_story(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        begun = await at_the_desk(harness)
    async with open_harness(tmp_path, BENNET) as harness:
        assert [one.id for one in await harness.theatre.queries.list_reopenable(1, OWNER)] == [
            begun.id
        ]
        scene = await harness.theatre.reopen(begun.id, CHANNEL, OWNER, heard=900)
        assert harness.theatre.require_scene(10) == scene
        assert scene.gm_ids == (BOB,)
        assert scene.part_of(BOB) == scene.part("Elizabeth Bennet")
        assert await harness.player_lines.last_heard(scene) == 900
        await harness.say(scene, "And now, Papa?", "Mr Bennet", author=BOB)
        await harness.wait_until_idle(scene)
        assert "MARMALADE" in harness.engine.requests[-1].prompt.text
        assert [line.text for line in await harness.store.lines_of(BOB)] == [
            "MARMALADE, Papa?",
            "And now, Papa?",
        ]


async def test_other_people_cannot_reopen_a_scene(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        begun = await at_the_desk(harness)
    async with open_harness(tmp_path, BENNET) as harness:
        assert await harness.theatre.queries.list_reopenable(1, (ALICE,)) == []
        with pytest.raises(Refused, match="not the game master of an ended scene"):
            await harness.theatre.reopen(begun.id, CHANNEL, (ALICE,), heard=0)


async def test_only_its_gm_reopens_an_ended_scene_in_its_server(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start(channel=5)
        await harness.say(scene, "MARMALADE?")
        assert await harness.theatre.queries.list_reopenable(1, (GM,)) == []
        await harness.theatre.end(scene, GM)
        for guild, person in ((2, GM), (1, ALICE), (2, BOB)):
            with pytest.raises(Refused):
                await harness.theatre.reopen(
                    scene.id, Place(guild, 10), (person, AT_TERMINAL), heard=0
                )
        goes_on = await harness.theatre.reopen(scene.id, CHANNEL, (GM,), heard=0)
        assert goes_on.state is SceneState.PLAYING
        assert harness.theatre.at(5) is None
        assert await harness.read_story(goes_on) == [("Alice", "MARMALADE?")]
        with pytest.raises(Refused):
            await harness.theatre.reopen(scene.id, Place(1, 11), (GM,), heard=0)


async def test_a_scene_cannot_move_to_an_occupied_place(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        first = await harness.start(channel=5)
        await harness.theatre.end(first, GM)
        second = await harness.start(channel=10)
        with pytest.raises(Refused, match="already"):
            await harness.theatre.reopen(first.id, CHANNEL, (GM,), heard=0)
        assert harness.theatre.require_scene(10) == second


async def test_an_ended_scene_moves_to_a_terminal_and_back(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(
            await harness.start(channel=5), ALICE, "Mrs Bennet"
        )
        await harness.theatre.end(scene, GM)
        there = await harness.theatre.open_at_terminal(scene.id, DESK)
        assert there.place == Place(1, -1)
        assert there.part("Mrs Bennet").by_model
    async with open_harness(tmp_path, BENNET) as harness:
        assert (await harness.theatre.reopen(scene.id, CHANNEL, (GM,), heard=0)).gm_ids == (GM,)


async def test_a_scene_played_at_a_terminal_still_belongs_to_its_channel(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.pause(await harness.start(channel=5), GM)
    async with open_harness(tmp_path, BENNET) as harness:
        await harness.theatre.close()
        visited = await harness.theatre.open_at_terminal(scene.id, DESK)
        assert visited.place == scene.place
        assert visited.state is SceneState.PLAYING
        harness.ids = iter([-8])  # type: ignore[assignment]
        await harness.say(visited, "MARMALADE, Papa?", "Mr Bennet", author=GM)
        await harness.wait_until_idle(visited)
    async with open_harness(tmp_path, BENNET) as harness:
        assert "MARMALADE" in (await harness.read_story(harness.theatre.require_scene(5)))[0][1]


async def test_a_scene_that_owes_its_channel_a_reply_does_not_open_at_a_terminal(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene = await harness.start(channel=5)
        await harness.say(scene, "Papa?", "Mr Bennet")
    async with open_harness(tmp_path, BENNET) as harness:
        await harness.theatre.close()
        with pytest.raises(Refused, match="has an unfinished reply in its channel") as refusal:
            await harness.theatre.open_at_terminal(scene.id, DESK)
        assert refusal.value.remedy is Remedy.RUN_BOT


async def test_an_unknown_scene_is_refused(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        with pytest.raises(NameNotFound, match="Scene 12 does not exist"):
            await harness.theatre.open_at_terminal(12, DESK)
