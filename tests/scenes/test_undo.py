"""Stories taken back, turns taken out of them, and both brought back; and branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import EngineBusy, Refused
from bot.her.beats import BeatKind
from bot.scenes.reveal import Destination
from bot.scenes.scene import Place
from bot.scenes.turn import TurnState
from tests.scenes.harness import ALICE, BOB, GM, a_house, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.scenes.harness import House

BENNET, MADAM = reply("Mr Bennet", says="You refuse him?"), reply("Mrs Bennet", says="My nerves!")
EVENING = ["Papa?", "smiles You refuse him?", "Mama?", "smiles My nerves!"]


async def played(house: House) -> tuple[Scene, list[Turn]]:
    """A scene of four turns."""
    scene = await house.begin()
    await house.say(scene, "Papa?", "Mr Bennet")
    await house.quiet(scene)
    await house.say(scene, "Mama?", "Mrs Bennet", author=BOB, name="Bob")
    await house.quiet(scene)
    return scene, await house.theatre.queries.read_history(scene)


async def texts(house: House, scene: Scene) -> list[str]:
    return [text for _, text in await house.story(scene)]


async def test_a_rewind_undoes_what_came_after_and_restoring_brings_it_back(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        scene, turns = await played(house)
        assert await house.undoing.count_later_turns(turns[1].id, GM) == 2
        undone = await house.undoing.rewind(turns[1].id, GM)
        await house.undoing.show(undone)
        assert await texts(house, scene) == EVENING[:2]
        assert house.stage.covered == [turns[3].id]
        assert house.stage.shown[-1] == ("Mr Bennet", EVENING[1])  # the latest reply now
        restored = await house.undoing.unhide(scene.id, undone.moment, GM)
        await house.undoing.show(restored)
        assert await texts(house, scene) == EVENING
        assert house.stage.shown[-1] == ("Mrs Bennet", EVENING[3])


async def test_what_was_undone_is_stored_over_a_restart_and_the_last_comes_back_first(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        scene, turns = await played(house)
        await house.undoing.rewind(turns[2].id, GM)
        await house.undoing.rewind(turns[0].id, GM)
    async with a_house(tmp_path, BENNET) as house:
        await house.undoing.unhide(scene.id, None, GM)
        assert await texts(house, scene) == EVENING[:3]
        await house.undoing.unhide(scene.id, None, GM)
        assert await texts(house, scene) == EVENING
        with pytest.raises(Refused, match="No turns are left"):
            await house.undoing.unhide(scene.id, None, GM)


async def test_what_is_said_after_a_rewind_stands_after_what_is_brought_back(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        scene, turns = await played(house)
        await house.undoing.rewind(turns[0].id, GM)
        await house.say(scene, "Hill?")
        assert await texts(house, scene) == [EVENING[0], "Hill?"]
        await house.undoing.unhide(scene.id, None, GM)
        assert await texts(house, scene) == [*EVENING, "Hill?"]


async def test_a_reply_in_the_making_is_undone_too_and_never_comes(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        scene, turns = await played(house)
        house.engine.gate.clear()
        await house.say(scene, "Papa!", "Mr Bennet")
        await until(lambda: house.engine.running == 1)
        await house.undoing.rewind(turns[3].id, GM)
        house.engine.gate.set()
        await house.quiet(scene)
        await house.undoing.unhide(scene.id, None, GM)
        assert await texts(house, scene) == [*EVENING, "Papa!"]


async def test_a_notice_of_failure_goes_with_what_is_undone(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, MADAM, EngineBusy("Too many wait.")) as house:
        scene, turns = await played(house)
        await house.say(scene, "Papa!", "Mr Bennet")
        await house.quiet(scene)
        failed = (await house.store.turns(scene.id))[-1]
        assert failed.state is TurnState.FAILED
        undone = await house.undoing.rewind(turns[3].id, GM)
        await house.undoing.show(undone)
        assert failed.id in house.stage.covered
        with pytest.raises(Refused):
            await house.takes.retry(failed.id, ALICE)


async def test_there_is_nothing_to_rewind_after_the_last_turn_or_from_one_that_is_undone(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        _, turns = await played(house)
        with pytest.raises(Refused, match="latest turn"):
            await house.undoing.count_later_turns(turns[3].id, GM)
        await house.undoing.rewind(turns[0].id, GM)
        with pytest.raises(Refused, match="not part of the story"):
            await house.undoing.rewind(turns[1].id, GM)


async def test_a_message_deleted_after_it_was_undone_never_comes_back(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        scene, turns = await played(house)
        await house.undoing.rewind(turns[1].id, GM)
        assert turns[2].message_id
        await house.hearing.withdraw(scene, turns[2].message_id)
        await house.undoing.unhide(scene.id, None, GM)
        assert await texts(house, scene) == [*EVENING[:2], EVENING[3]]


async def test_hide_takes_one_turn_out_and_what_it_was_owed(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        scene, turns = await played(house)
        hidden = await house.undoing.hide(turns[1].id, GM)
        await house.undoing.show(hidden)
        assert await texts(house, scene) == [EVENING[0], *EVENING[2:]]
        assert "You refuse him?" not in await house.theatre.queries.read_prompt(
            scene, "Mr Bennet", GM
        )
        with pytest.raises(Refused, match="can't be hidden"):
            await house.undoing.hide(turns[1].id, GM)
        house.engine.gate.clear()
        await house.say(scene, "Papa!", "Mr Bennet")
        line = (await house.theatre.queries.read_history(scene))[-1]
        await house.undoing.hide(line.id, GM)
        house.engine.gate.set()
        await house.quiet(scene)
        assert await texts(house, scene) == [EVENING[0], *EVENING[2:]]


async def test_only_game_masters_change_the_course_of_a_story(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        scene, turns = await played(house)
        await house.undoing.hide(turns[1].id, GM)
        for forbidden in (
            house.undoing.count_later_turns(turns[0].id, ALICE),
            house.undoing.rewind(turns[0].id, ALICE),
            house.undoing.hide(turns[0].id, ALICE),
            house.undoing.unhide(scene.id, None, ALICE),
            house.branching.require_root(turns[0].id, ALICE),
            house.branching.branch(turns[0].id, Place(1, 11, 10), ALICE),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await forbidden
        await house.theatre.end(scene, GM)
        for late in (
            house.undoing.rewind(turns[0].id, GM),
            house.undoing.unhide(scene.id, None, GM),
        ):
            with pytest.raises(Refused, match="has ended"):
                await late


async def test_a_branch_knows_what_was_said_before_it_and_nothing_that_was_said_after(
    tmp_path: Path,
) -> None:
    async with a_house(
        tmp_path, reply("Mr Bennet", thinks="SECRET", says="You refuse him?"), MADAM
    ) as house:
        scene, turns = await played(house)
        scene = await house.theatre.controls.join(scene, ALICE, "Elizabeth")
        scene = await house.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.OFF, GM)
        branch = await house.branching.branch(turns[1].id, Place(1, 11, 10), GM)
        assert (branch.gm_ids, branch.parts, branch.reveal) == (
            scene.gm_ids,
            scene.parts,
            scene.reveal,
        )
        assert house.theatre.require_scene(11) == branch
        assert await texts(house, branch) == EVENING[:2]
        await house.say(branch, "And now?", "Mr Bennet")
        await house.quiet(branch)
        prompt = house.engine.requests[-1].prompt.text
        assert "SECRET" in prompt
        assert "Mama?" not in prompt
        assert "Elizabeth Bennet: And now?" in prompt
        assert await texts(house, scene) == EVENING


async def test_a_branch_outlives_a_restart_and_its_trunk(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        scene, turns = await played(house)
        await house.branching.branch(turns[3].id, Place(1, 11, 10), GM)
        await house.theatre.end(scene, GM)
    async with a_house(tmp_path, BENNET) as house:
        assert await texts(house, house.theatre.require_scene(11)) == EVENING


async def test_what_a_person_said_in_a_branch_is_theirs_too(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        _, turns = await played(house)
        branch = await house.branching.branch(turns[3].id, Place(1, 11, 10), GM)
        assert [line.text for line in await house.store.lines_of(BOB)] == ["Mama?", "Mama?"]
        await house.store.forget_person(BOB)
        assert "Mama?" not in await texts(house, branch)


async def test_where_a_scene_is_under_way_no_branch_begins(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, MADAM) as house:
        _, turns = await played(house)
        await house.begin(11)
        with pytest.raises(Refused, match="under way"):
            await house.branching.branch(turns[3].id, Place(1, 11, 10), GM)
        await house.undoing.hide(turns[3].id, GM)
        with pytest.raises(Refused, match="not part of the story"):
            await house.branching.require_root(turns[3].id, GM)
