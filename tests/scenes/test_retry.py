"""A reply given anew: another take of the same turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import EngineBusy, Refused
from bot.scenes.notices import Notice
from bot.scenes.turn import TurnState
from tests.scenes.harness import ALICE, BOB, GM, a_house, reply

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.scenes.harness import House

FIRST, SECOND = reply("Mr Bennet", says="You refuse him?"), reply("Mr Bennet", says="You take him?")
MADAM = reply("Mrs Bennet", says="My nerves!")
HEARD = [("Alice", "Papa?"), ("Mr Bennet", "smiles You refuse him?")]


async def answered(house: House) -> tuple[Scene, Turn]:
    """A scene in which Alice asked and Mr Bennet replied, and that reply."""
    scene = await house.begin()
    await house.say(scene, "Papa?", "Mr Bennet")
    await house.quiet(scene)
    return scene, (await house.theatre.queries.read_history(scene))[-1]


async def test_the_new_take_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST, SECOND) as house:
        scene, turn = await answered(house)
        await house.takes.retake(turn.id, ALICE)
        await house.quiet(scene)
        assert await house.story(scene) == [
            ("Alice", "Papa?"),
            ("Mr Bennet", "smiles You take him?"),
        ]
        first, second = house.engine.requests
        assert first.prompt == second.prompt
        assert first.seed != second.seed
        now = await house.store.turn(turn.id)
        assert now
        assert now.take
        assert turn.take
        assert (turn.take.number, now.take.number) == (1, 2)


async def test_while_it_is_made_nobody_hears_either(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST, SECOND) as house:
        scene, turn = await answered(house)
        house.engine.gate.clear()
        await house.takes.retake(turn.id, GM)
        assert await house.story(scene) == HEARD[:1]
        with pytest.raises(Refused, match="still replying"):
            await house.takes.retake(turn.id, GM)
        house.engine.gate.set()
        await house.quiet(scene)
        assert len(house.engine.requests) == 2


async def test_only_who_asked_and_the_gm_may_have_it_anew(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST) as house:
        scene, turn = await answered(house)
        with pytest.raises(Refused, match="Only the game master"):
            await house.takes.retake(turn.id, BOB)
        line = (await house.theatre.queries.read_history(scene))[0]
        with pytest.raises(Refused, match="finished reply"):
            await house.takes.retake(line.id, GM)


async def test_an_earlier_reply_is_made_anew_from_what_was_known_then(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST, MADAM, SECOND) as house:
        scene, turn = await answered(house)
        await house.say(scene, "MARMALADE, Mama?", "Mrs Bennet")
        await house.quiet(scene)
        await house.takes.retake(turn.id, ALICE)
        await house.quiet(scene)
        assert "MARMALADE" not in house.engine.requests[-1].prompt.text
        assert [text for _, text in await house.story(scene)][1::2] == [
            "smiles You take him?",
            "smiles My nerves!",
        ]


async def test_where_no_new_take_comes_the_old_one_stands_and_people_are_told(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, FIRST, EngineBusy("Too many wait.")) as house:
        scene, turn = await answered(house)
        await house.takes.retake(turn.id, ALICE)
        await house.quiet(scene)
        assert await house.story(scene) == HEARD
        assert house.stage.notices == [
            Notice("Too many wait. The earlier reply of Mr Bennet remains.")
        ]
        assert house.stage.faults == []


async def test_a_restart_in_the_middle_makes_it_all_the_same(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST) as house:
        scene, turn = await answered(house)
        house.engine.gate.clear()
        await house.takes.retake(turn.id, ALICE)
    async with a_house(tmp_path, SECOND) as house:
        house.theatre.play_owed()
        await house.quiet(scene)
        assert (await house.story(scene))[1] == ("Mr Bennet", "smiles You take him?")


async def test_a_scene_that_ends_or_a_part_that_is_taken_meanwhile_keeps_the_old_take(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, FIRST) as house:
        scene, turn = await answered(house)
        house.engine.gate.clear()
        await house.takes.retake(turn.id, ALICE)
        await house.theatre.controls.join(scene, BOB, "Mr Bennet")
        house.engine.gate.set()
        await house.quiet(scene)
        assert await house.story(scene) == HEARD
        with pytest.raises(Refused, match="does not speak for Mr Bennet"):
            await house.takes.retake(turn.id, ALICE)
        await house.theatre.controls.leave(house.theatre.require_scene(10), BOB)
        house.engine.gate.clear()
        await house.takes.retake(turn.id, ALICE)
        await house.theatre.end(scene, GM)
        assert await house.story(scene) == HEARD


async def test_in_a_paused_scene_nothing_is_made_anew(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST) as house:
        scene, turn = await answered(house)
        await house.theatre.controls.pause(scene, GM)
        with pytest.raises(Refused, match="paused"):
            await house.takes.retake(turn.id, ALICE)
        kept = await house.store.turn(turn.id)
        assert kept
        assert kept.state is TurnState.DONE
