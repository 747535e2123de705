"""Rewind, hide, unhide and branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import EngineBusy, Refused
from bot.her.beats import BeatKind
from bot.scenes.reveal import Destination
from bot.scenes.scene import Place
from bot.scenes.turn import TurnState
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.scenes.scene_harness import TheatreHarness

BENNET = reply("Mr Bennet", says="You refuse him?")
MADAM = reply("Mrs Bennet", says="My nerves!")
EVENING = ["Papa?", "smiles You refuse him?", "Mama?", "smiles My nerves!"]


async def played(harness: TheatreHarness) -> tuple[Scene, list[Turn]]:
    """Start a scene with four turns."""
    scene = await harness.start()
    await harness.say(scene, "Papa?", "Mr Bennet")
    await harness.wait_until_idle(scene)
    await harness.say(scene, "Mama?", "Mrs Bennet", author=BOB, name="Bob")
    await harness.wait_until_idle(scene)
    return scene, await harness.theatre.queries.read_history(scene)


async def texts(harness: TheatreHarness, scene: Scene) -> list[str]:
    return [text for _, text in await harness.read_story(scene)]


async def test_a_rewind_undoes_later_turns_and_unhide_restores_them(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        scene, turns = await played(harness)
        assert await harness.undo.count_later_turns(turns[1].id, GM) == 2
        undone = await harness.undo.rewind(turns[1].id, GM)
        await harness.undo.show(undone)
        assert await texts(harness, scene) == EVENING[:2]
        assert harness.delivery.covered == [turns[3].id]
        assert harness.delivery.shown[-1] == ("Mr Bennet", EVENING[1])  # the latest reply now
        restored = await harness.undo.unhide(scene.id, undone.moment, GM)
        await harness.undo.show(restored)
        assert await texts(harness, scene) == EVENING
        assert harness.delivery.shown[-1] == ("Mrs Bennet", EVENING[3])


async def test_undone_turns_survive_a_restart_and_the_latest_return_first(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        scene, turns = await played(harness)
        await harness.undo.rewind(turns[2].id, GM)
        await harness.undo.rewind(turns[0].id, GM)
    async with open_harness(tmp_path, BENNET) as harness:
        await harness.undo.unhide(scene.id, None, GM)
        assert await texts(harness, scene) == EVENING[:3]
        await harness.undo.unhide(scene.id, None, GM)
        assert await texts(harness, scene) == EVENING
        with pytest.raises(Refused, match="No turns are left"):
            await harness.undo.unhide(scene.id, None, GM)


async def test_lines_after_a_rewind_follow_the_restored_turns(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        scene, turns = await played(harness)
        await harness.undo.rewind(turns[0].id, GM)
        await harness.say(scene, "Hill?")
        assert await texts(harness, scene) == [EVENING[0], "Hill?"]
        await harness.undo.unhide(scene.id, None, GM)
        assert await texts(harness, scene) == [*EVENING, "Hill?"]


async def test_a_rewind_cancels_an_owed_reply_for_good(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        scene, turns = await played(harness)
        harness.engine.gate.clear()
        await harness.say(scene, "Papa!", "Mr Bennet")
        await until(lambda: harness.engine.running == 1)
        await harness.undo.rewind(turns[3].id, GM)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        await harness.undo.unhide(scene.id, None, GM)
        assert await texts(harness, scene) == [*EVENING, "Papa!"]


async def test_a_rewind_removes_the_notice_of_a_failed_reply(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, MADAM, EngineBusy("Too many wait.")) as harness:
        scene, turns = await played(harness)
        await harness.say(scene, "Papa!", "Mr Bennet")
        await harness.wait_until_idle(scene)
        failed = (await harness.store.turns(scene.id))[-1]
        assert failed.state is TurnState.FAILED
        undone = await harness.undo.rewind(turns[3].id, GM)
        await harness.undo.show(undone)
        assert failed.id in harness.delivery.covered
        with pytest.raises(Refused):
            await harness.takes.retry(failed.id, ALICE)


async def test_a_rewind_to_the_last_turn_or_to_an_undone_one_is_refused(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        _, turns = await played(harness)
        with pytest.raises(Refused, match="latest turn"):
            await harness.undo.count_later_turns(turns[3].id, GM)
        await harness.undo.rewind(turns[0].id, GM)
        with pytest.raises(Refused, match="not part of the story"):
            await harness.undo.rewind(turns[1].id, GM)


async def test_a_message_deleted_after_its_undo_never_returns(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        scene, turns = await played(harness)
        await harness.undo.rewind(turns[1].id, GM)
        assert turns[2].message_id
        await harness.line_changes.withdraw(turns[2].message_id, 10)
        await harness.undo.unhide(scene.id, None, GM)
        assert await texts(harness, scene) == [*EVENING[:2], EVENING[3]]


async def test_hide_removes_one_turn_and_its_owed_answers(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        scene, turns = await played(harness)
        hidden = await harness.undo.hide(turns[1].id, GM)
        await harness.undo.show(hidden)
        assert await texts(harness, scene) == [EVENING[0], *EVENING[2:]]
        assert "You refuse him?" not in await harness.theatre.queries.read_prompt(
            scene, "Mr Bennet", GM
        )
        with pytest.raises(Refused, match="can't be hidden"):
            await harness.undo.hide(turns[1].id, GM)
        harness.engine.gate.clear()
        await harness.say(scene, "Papa!", "Mr Bennet")
        line = (await harness.theatre.queries.read_history(scene))[-1]
        await harness.undo.hide(line.id, GM)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert await texts(harness, scene) == [EVENING[0], *EVENING[2:]]


async def test_only_game_masters_rewind_hide_unhide_and_branch(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        scene, turns = await played(harness)
        await harness.undo.hide(turns[1].id, GM)
        for forbidden in (
            harness.undo.count_later_turns(turns[0].id, ALICE),
            harness.undo.rewind(turns[0].id, ALICE),
            harness.undo.hide(turns[0].id, ALICE),
            harness.undo.unhide(scene.id, None, ALICE),
            harness.branching.require_root(turns[0].id, ALICE),
            harness.branching.branch(turns[0].id, Place(1, 11, 10), ALICE),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await forbidden
        await harness.theatre.end(scene, GM)
        for late in (
            harness.undo.rewind(turns[0].id, GM),
            harness.undo.unhide(scene.id, None, GM),
        ):
            with pytest.raises(Refused, match="has ended"):
                await late


async def test_a_branch_knows_only_the_turns_before_it(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, reply("Mr Bennet", thinks="SECRET", says="You refuse him?"), MADAM
    ) as harness:
        scene, turns = await played(harness)
        scene = await harness.theatre.controls.join(scene, ALICE, "Elizabeth")
        scene = await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.OFF, GM)
        branch = await harness.branching.branch(turns[1].id, Place(1, 11, 10), GM)
        assert (branch.gm_ids, branch.parts, branch.reveal) == (
            scene.gm_ids,
            scene.parts,
            scene.reveal,
        )
        assert harness.theatre.require_scene(11) == branch
        assert await texts(harness, branch) == EVENING[:2]
        await harness.say(branch, "And now?", "Mr Bennet")
        await harness.wait_until_idle(branch)
        prompt = harness.engine.requests[-1].prompt.text
        assert "SECRET" in prompt
        assert "Mama?" not in prompt
        assert "Elizabeth Bennet: And now?" in prompt
        assert await texts(harness, scene) == EVENING


async def test_a_branch_survives_a_restart_and_the_end_of_its_origin(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        scene, turns = await played(harness)
        await harness.branching.branch(turns[3].id, Place(1, 11, 10), GM)
        await harness.theatre.end(scene, GM)
    async with open_harness(tmp_path, BENNET) as harness:
        assert await texts(harness, harness.theatre.require_scene(11)) == EVENING


async def test_a_persons_lines_in_a_branch_are_their_data_too(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        _, turns = await played(harness)
        branch = await harness.branching.branch(turns[3].id, Place(1, 11, 10), GM)
        assert [line.text for line in await harness.store.lines_of(BOB)] == ["Mama?", "Mama?"]
        await harness.store.forget_person(BOB)
        assert "Mama?" not in await texts(harness, branch)


async def test_a_branch_cannot_start_in_a_place_with_a_scene(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        _, turns = await played(harness)
        await harness.start(11)
        with pytest.raises(Refused, match="under way"):
            await harness.branching.branch(turns[3].id, Place(1, 11, 10), GM)
        await harness.undo.hide(turns[3].id, GM)
        with pytest.raises(Refused, match="not part of the story"):
            await harness.branching.require_root(turns[3].id, GM)
