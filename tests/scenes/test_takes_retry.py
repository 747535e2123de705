"""A retry: another take of the same turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import EngineBusy, Refused
from bot.scenes.notices import Notice
from bot.scenes.turn import TurnState
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness, reply

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.scenes.scene_harness import TheatreHarness

FIRST = reply("Mr Bennet", says="You refuse him?")
SECOND = reply("Mr Bennet", says="You take him?")
MADAM = reply("Mrs Bennet", says="My nerves!")
HEARD = [("Alice", "Papa?"), ("Mr Bennet", "smiles You refuse him?")]


async def answered(harness: TheatreHarness) -> tuple[Scene, Turn]:
    """Start a scene in which Alice asked and Mr Bennet replied. Return it with his reply."""
    scene = await harness.start()
    await harness.say(scene, "Papa?", "Mr Bennet")
    await harness.wait_until_idle(scene)
    return scene, (await harness.theatre.queries.read_history(scene))[-1]


async def test_a_new_take_replaces_the_old_one(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        scene, turn = await answered(harness)
        await harness.takes.retake(turn.id, ALICE)
        await harness.wait_until_idle(scene)
        assert await harness.read_story(scene) == [
            ("Alice", "Papa?"),
            ("Mr Bennet", "smiles You take him?"),
        ]
        first, second = harness.engine.requests
        assert first.prompt == second.prompt
        assert first.seed != second.seed
        now = await harness.store.turn(turn.id)
        assert now
        assert now.take
        assert turn.take
        assert (turn.take.number, now.take.number) == (1, 2)


async def test_while_a_take_is_generated_neither_take_is_in_the_story(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        scene, turn = await answered(harness)
        harness.engine.gate.clear()
        await harness.takes.retake(turn.id, GM)
        assert await harness.read_story(scene) == HEARD[:1]
        with pytest.raises(Refused, match="still replying"):
            await harness.takes.retake(turn.id, GM)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert len(harness.engine.requests) == 2


async def test_only_the_addressed_person_and_the_gm_may_retry(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        scene, turn = await answered(harness)
        with pytest.raises(Refused, match="Only the game master"):
            await harness.takes.retake(turn.id, BOB)
        line = (await harness.theatre.queries.read_history(scene))[0]
        with pytest.raises(Refused, match="finished reply"):
            await harness.takes.retake(line.id, GM)


async def test_an_earlier_reply_is_retried_with_the_story_of_that_time(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, MADAM, SECOND) as harness:
        scene, turn = await answered(harness)
        await harness.say(scene, "MARMALADE, Mama?", "Mrs Bennet")
        await harness.wait_until_idle(scene)
        await harness.takes.retake(turn.id, ALICE)
        await harness.wait_until_idle(scene)
        assert "MARMALADE" not in harness.engine.requests[-1].prompt.text
        assert [text for _, text in await harness.read_story(scene)][1::2] == [
            "smiles You take him?",
            "smiles My nerves!",
        ]


async def test_if_a_retry_fails_the_old_take_remains_with_a_notice(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, FIRST, EngineBusy("Too many wait.")) as harness:
        scene, turn = await answered(harness)
        await harness.takes.retake(turn.id, ALICE)
        await harness.wait_until_idle(scene)
        assert await harness.read_story(scene) == HEARD
        assert harness.delivery.notices == [
            Notice(
                "The model has too many replies to write. Try again later. "
                "The earlier reply of Mr Bennet remains."
            )
        ]
        assert harness.delivery.faults == []


async def test_a_retry_survives_a_restart(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        scene, turn = await answered(harness)
        harness.engine.gate.clear()
        await harness.takes.retake(turn.id, ALICE)
    async with open_harness(tmp_path, SECOND) as harness:
        harness.theatre.play_owed()
        await harness.wait_until_idle(scene)
        assert (await harness.read_story(scene))[1] == ("Mr Bennet", "smiles You take him?")


async def test_the_old_take_remains_if_the_scene_ends_or_the_part_is_taken(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        scene, turn = await answered(harness)
        harness.engine.gate.clear()
        await harness.takes.retake(turn.id, ALICE)
        await harness.theatre.controls.join(scene, BOB, "Mr Bennet")
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert await harness.read_story(scene) == HEARD
        with pytest.raises(Refused, match="does not speak for Mr Bennet"):
            await harness.takes.retake(turn.id, ALICE)
        await harness.theatre.controls.leave(harness.theatre.require_scene(10), BOB)
        harness.engine.gate.clear()
        await harness.takes.retake(turn.id, ALICE)
        await harness.theatre.end(scene, GM)
        assert await harness.read_story(scene) == HEARD


async def test_a_paused_scene_refuses_a_retry(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        scene, turn = await answered(harness)
        await harness.theatre.controls.pause(scene, GM)
        with pytest.raises(Refused, match="paused"):
            await harness.takes.retake(turn.id, ALICE)
        kept = await harness.store.turn(turn.id)
        assert kept
        assert kept.state is TurnState.DONE
