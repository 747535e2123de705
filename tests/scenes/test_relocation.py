"""Scenes that come from one place to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import NameNotFound, Refused, Remedy
from bot.scenes.scene import AT_TERMINAL, Place, SceneState
from tests.scenes.harness import ALICE, BOB, GM, STUDY, a_house, reply

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from tests.scenes.harness import House

BENNET = reply("Mr Bennet", says="You refuse him?")
DESK = Place(AT_TERMINAL, -1)
CHANNEL = Place(guild_id=1, channel_id=10)
OWNER = (BOB, AT_TERMINAL)  # Bob runs the program


async def at_the_desk(house: House) -> Scene:
    """A scene begun at a terminal, in which its person plays Elizabeth and was answered."""
    scene = await house.theatre.start(DESK, STUDY, AT_TERMINAL)
    scene = await house.theatre.controls.join(scene, AT_TERMINAL, "Elizabeth")
    house.ids = iter([-7])  # type: ignore[assignment]
    await house.say(scene, "MARMALADE, Papa?", "Mr Bennet", author=AT_TERMINAL)
    await house.quiet(scene)
    return scene


async def test_a_scene_at_a_terminal_is_not_taken_for_one_on_discord(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        await at_the_desk(house)
    async with a_house(tmp_path, BENNET) as house:
        assert house.theatre.scenes() == ()


async def test_who_runs_the_program_has_it_go_on_in_a_channel_with_part_and_story(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET) as house:
        begun = await at_the_desk(house)
    async with a_house(tmp_path, BENNET) as house:
        assert [one.id for one in await house.theatre.queries.list_reopenable(1, OWNER)] == [
            begun.id
        ]
        scene = await house.theatre.reopen(begun.id, CHANNEL, OWNER, heard=900)
        assert house.theatre.require_scene(10) == scene
        assert scene.gm_ids == (BOB,)
        assert scene.part_of(BOB) == scene.part("Elizabeth Bennet")
        assert await house.hearing.last_heard(scene) == 900
        await house.say(scene, "And now, Papa?", "Mr Bennet", author=BOB)
        await house.quiet(scene)
        assert "MARMALADE" in house.engine.requests[-1].prompt.text
        assert [line.text for line in await house.store.lines_of(BOB)] == [
            "MARMALADE, Papa?",
            "And now, Papa?",
        ]


async def test_nobody_else_is_offered_or_gets_it(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        begun = await at_the_desk(house)
    async with a_house(tmp_path, BENNET) as house:
        assert await house.theatre.queries.list_reopenable(1, (ALICE,)) == []
        with pytest.raises(Refused, match="not the game master of an ended scene"):
            await house.theatre.reopen(begun.id, CHANNEL, (ALICE,), heard=0)


async def test_an_ended_scene_goes_on_in_its_server_for_its_gm_only(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin(channel=5)
        await house.say(scene, "MARMALADE?")
        assert await house.theatre.queries.list_reopenable(1, (GM,)) == []
        await house.theatre.end(scene, GM)
        for guild, person in ((2, GM), (1, ALICE), (2, BOB)):
            with pytest.raises(Refused):
                await house.theatre.reopen(
                    scene.id, Place(guild, 10), (person, AT_TERMINAL), heard=0
                )
        goes_on = await house.theatre.reopen(scene.id, CHANNEL, (GM,), heard=0)
        assert goes_on.state is SceneState.PLAYING
        assert house.theatre.at(5) is None
        assert await house.story(goes_on) == [("Alice", "MARMALADE?")]
        with pytest.raises(Refused):
            await house.theatre.reopen(scene.id, Place(1, 11), (GM,), heard=0)


async def test_a_place_that_is_taken_stays_so(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        first = await house.begin(channel=5)
        await house.theatre.end(first, GM)
        second = await house.begin(channel=10)
        with pytest.raises(Refused, match="already"):
            await house.theatre.reopen(first.id, CHANNEL, (GM,), heard=0)
        assert house.theatre.require_scene(10) == second


async def test_an_ended_scene_opened_at_a_terminal_moves_there_and_back(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.theatre.controls.join(await house.begin(channel=5), ALICE, "Mrs Bennet")
        await house.theatre.end(scene, GM)
        there = await house.theatre.open_at_terminal(scene.id, DESK)
        assert there.place == Place(1, -1)
        assert there.part("Mrs Bennet").by_model
    async with a_house(tmp_path, BENNET) as house:
        assert (await house.theatre.reopen(scene.id, CHANNEL, (GM,), heard=0)).gm_ids == (GM,)


async def test_a_scene_under_way_stays_its_channels_while_it_is_played_at_a_terminal(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.theatre.controls.pause(await house.begin(channel=5), GM)
    async with a_house(tmp_path, BENNET) as house:
        await house.theatre.close()
        visited = await house.theatre.open_at_terminal(scene.id, DESK)
        assert visited.place == scene.place
        assert visited.state is SceneState.PLAYING
        house.ids = iter([-8])  # type: ignore[assignment]
        await house.say(visited, "MARMALADE, Papa?", "Mr Bennet", author=GM)
        await house.quiet(visited)
    async with a_house(tmp_path, BENNET) as house:
        assert "MARMALADE" in (await house.story(house.theatre.require_scene(5)))[0][1]


async def test_a_reply_owed_to_a_channel_is_not_given_at_a_terminal(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        house.engine.gate.clear()
        scene = await house.begin(channel=5)
        await house.say(scene, "Papa?", "Mr Bennet")
    async with a_house(tmp_path, BENNET) as house:
        await house.theatre.close()
        with pytest.raises(Refused, match="owes its channel") as refusal:
            await house.theatre.open_at_terminal(scene.id, DESK)
        assert refusal.value.remedy is Remedy.RUN_BOT


async def test_a_scene_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        with pytest.raises(NameNotFound, match="Scene 12 does not exist"):
            await house.theatre.open_at_terminal(12, DESK)
