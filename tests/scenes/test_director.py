"""The choice of speakers: by address, by prediction, and one reply for two lines."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from bot.errors import EngineBusy, EngineError
from bot.scenes.scene import Mode
from bot.scenes.story_events import Speaker
from bot.scenes.turn import TurnState
from tests.engine.scripted_engine import Scripted
from tests.scenes.gm_harness import GmHarness, open_gm_harness
from tests.scenes.scene_harness import ALICE, BOB, GM, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bot.engine.protocol import Request
    from bot.scenes.scene import Scene
    from tests.scenes.scene_harness import TheatreHarness

ANY = "Be dry.</system_thinking><role_action>nods</role_action>Indeed."


def answering(
    *choices: str | EngineError | Scripted,
) -> Callable[[Request], str | EngineError | Scripted]:
    """An engine that predicts these speakers in order, then no one, and plays every character."""
    left = list(choices)

    def answer(request: Request) -> str | EngineError | Scripted:
        if request.mind.endswith("/(director)"):
            return left.pop(0) if left else "Nobody"
        return ANY

    return answer


async def auto(gm: GmHarness, budget: int = 3) -> Scene:
    return await gm.gm_actions.set_mode(await gm.harness.start(), Mode.AUTO, budget, GM)


async def calm(harness: TheatreHarness, scene: Scene) -> None:
    running = harness.theatre.find_running(scene.id)
    assert running is not None
    await running.runner.wait_until_idle()


async def test_in_auto_mode_the_character_that_the_engine_names_answers(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, answering("Mrs Bennet")) as gm:
        scene = await auto(gm)
        await gm.harness.say(scene, "Such a fine day.")
        await calm(gm.harness, scene)
        assert [speaker for speaker, _ in gm.harness.delivery.shown] == ["Mrs Bennet"]
        asked = gm.harness.engine.requests[0]
        assert "Such a fine day." in asked.prompt.text
        assert asked.max_tokens <= 32
        assert asked.planning_tokens is None


async def test_the_last_speaker_is_never_chosen(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, answering("Mrs Bennet", "Mrs Bennet")) as gm:
        scene = await auto(gm)
        await gm.harness.say(scene, "Such a fine day.")
        await calm(gm.harness, scene)
        second = [one for one in gm.harness.engine.requests if one.mind.endswith("(director)")][1]
        assert "- Mrs Bennet" not in second.prompt.text
        speakers = [speaker for speaker, _ in gm.harness.delivery.shown]
        assert all(one != other for one, other in pairwise(speakers))


async def test_characters_talk_until_the_budget_is_spent_and_a_line_resets_it(
    tmp_path: Path,
) -> None:
    names = ["Mr Bennet", "Mrs Bennet"] * 20
    async with open_gm_harness(tmp_path, answering(*names)) as gm:
        scene = await auto(gm, budget=4)
        await gm.harness.say(scene, "Such a fine day.")
        await calm(gm.harness, scene)
        assert len(gm.harness.delivery.shown) == 4
        await gm.harness.say(scene, "Is it not?")
        await calm(gm.harness, scene)
        assert len(gm.harness.delivery.shown) == 8


async def test_no_character_answers_if_the_engine_says_so(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, answering("nobody.")) as gm:
        scene = await auto(gm)
        await gm.harness.say(scene, "Such a fine day.")
        await calm(gm.harness, scene)
        running = gm.harness.theatre.find_running(scene.id)
        assert running is not None
        running.runner.wake()
        await calm(gm.harness, scene)
        assert len(gm.harness.engine.requests) == 1
        assert gm.harness.delivery.shown == []


@pytest.mark.parametrize("trouble", [EngineBusy("Too many wait."), "I'd rather not say, really"])
async def test_a_mention_decides_if_the_engine_cannot(
    tmp_path: Path, trouble: str | EngineError
) -> None:
    async with open_gm_harness(tmp_path, answering(trouble)) as gm:
        scene = await auto(gm)
        await gm.harness.say(scene, "I wonder if Mr. Bennet would agree.")
        await calm(gm.harness, scene)
        assert [speaker for speaker, _ in gm.harness.delivery.shown] == ["Mr Bennet"]


async def test_characters_that_are_played_resting_or_off_stage_are_not_chosen(
    tmp_path: Path,
) -> None:
    async with open_gm_harness(
        tmp_path, answering("Mr Bennet", "Mrs Bennet", "Elizabeth Bennet")
    ) as gm:
        scene = await auto(gm)
        scene = await gm.harness.theatre.controls.join(scene, BOB, "Mr Bennet")
        scene = await gm.gm_actions.rest(scene, "Mrs Bennet", GM, rests=True)
        await gm.gm_actions.leave_stage(scene, "Elizabeth", GM)
        for text in ("One.", "Two.", "Three."):
            await gm.harness.say(scene, text)
            await calm(gm.harness, scene)
        assert gm.harness.engine.requests == []


async def test_the_model_waits_if_a_players_character_should_speak(
    tmp_path: Path,
) -> None:
    async with open_gm_harness(tmp_path, answering("Mr Bennet")) as gm:
        scene = await gm.harness.theatre.controls.join(await auto(gm), BOB, "Mr Bennet")
        await gm.harness.say(scene, "Papa Bennet?")
        await calm(gm.harness, scene)
        assert gm.harness.delivery.shown == []


async def test_the_director_sees_no_whispers_and_no_thoughts(tmp_path: Path) -> None:
    thinking = reply("Mrs Bennet", plan="PLAN", thinks="SECRET", says="My nerves!")
    async with open_gm_harness(tmp_path, thinking, thinking, "Nobody") as gm:
        scene = await gm.harness.start()
        await gm.story_events.whisper(scene, "Mrs Bennet", "PICKLES", Speaker(ALICE, "Alice"))
        await gm.harness.wait_until_idle(scene)
        await gm.harness.say(scene, "Mama?", "Mrs Bennet")
        await gm.harness.wait_until_idle(scene)
        await gm.gm_actions.set_mode(scene, Mode.AUTO, 3, GM)
        await calm(gm.harness, scene)
        asked = gm.harness.engine.requests[-1]
        assert asked.mind.endswith("(director)")
        assert "My nerves!" in asked.prompt.text
        for secret in ("PICKLES", "SECRET", "PLAN", "He will not lose Lizzy."):
            assert secret not in asked.prompt.text


async def test_a_line_during_the_prediction_is_answered_at_once(tmp_path: Path) -> None:
    async with open_gm_harness(
        tmp_path, answering(Scripted("Mrs Bennet", pause=60), "Nobody", "Nobody")
    ) as gm:
        scene = await auto(gm)
        await gm.harness.say(scene, "Such a fine day.")
        await until(lambda: bool(gm.harness.engine.requests))
        await gm.harness.say(scene, "Papa?", "Mr Bennet")
        await until(lambda: bool(gm.harness.delivery.shown))
        assert [speaker for speaker, _ in gm.harness.delivery.shown] == ["Mr Bennet"]
        await calm(gm.harness, scene)


async def test_one_reply_answers_two_lines_if_no_part_of_it_was_shown(
    tmp_path: Path,
) -> None:
    async with open_gm_harness(tmp_path, ANY) as gm:
        harness = gm.harness
        scene = await harness.start()
        harness.engine.gate.clear()
        await harness.say(scene, "MARMALADE?", "Mr Bennet")
        await until(lambda: bool(harness.engine.requests))
        await harness.say(scene, "PICKLES?", "Mr Bennet", author=BOB, name="Bob")
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in await harness.read_story(scene)] == [
            "Alice",
            "Bob",
            "Mr Bennet",
        ]
        prompt = harness.engine.requests[-1].prompt.text
        assert prompt.index("Alice: MARMALADE?") < prompt.index("Bob: PICKLES?")
        assert len(harness.engine.cancelled) == 1
        assert len(harness.delivery.shown) == 1


async def test_a_reply_that_is_partly_shown_stays_and_the_second_line_gets_its_own(
    tmp_path: Path,
) -> None:
    slow = Scripted(
        reply("Mr Bennet", says=" ".join(f"word{number}" for number in range(30))),
        chunk=8,
        pause=0.01,
    )
    async with open_gm_harness(tmp_path, slow) as gm:
        harness = gm.harness
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await until(lambda: bool(harness.delivery.progressed))
        await harness.say(scene, "Papa!", "Mr Bennet", author=BOB, name="Bob")
        await harness.wait_until_idle(scene)
        assert len(harness.delivery.shown) == 2
        assert harness.engine.cancelled == []


async def test_if_one_of_two_lines_is_deleted_the_other_is_still_answered(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, ANY) as gm:
        harness = gm.harness
        scene = await harness.start()
        harness.engine.gate.clear()
        await harness.say(scene, "MARMALADE?", "Mr Bennet")
        second = await harness.say(scene, "PICKLES?", "Mr Bennet", author=BOB, name="Bob")
        await harness.line_changes.withdraw(second, 10)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in await harness.read_story(scene)] == ["Alice", "Mr Bennet"]
        assert "PICKLES" not in harness.engine.requests[-1].prompt.text


async def test_many_lines_at_once_are_stored_in_order_and_answered(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, ANY) as gm:
        harness = gm.harness
        scene = await harness.start()
        await asyncio.gather(
            *(
                harness.say(
                    scene, f"Line {number}", "Mr Bennet", author=100 + number, name=f"P{number}"
                )
                for number in range(8)
            )
        )
        await harness.wait_until_idle(scene)
        lines = [
            text for speaker, text in await harness.read_story(scene) if speaker.startswith("P")
        ]
        assert lines == [f"Line {number}" for number in range(8)]
        replies = [
            turn for turn in await gm.turns(scene) if turn.state is TurnState.DONE and turn.answered
        ]
        assert len({line for turn in replies for line in turn.answered}) == 8


async def test_after_a_restart_only_a_recent_line_is_answered_in_auto_mode(
    tmp_path: Path,
) -> None:
    async with open_gm_harness(tmp_path, answering(Scripted("Mrs Bennet", pause=60))) as gm:
        scene = await auto(gm)
        await gm.harness.say(scene, "Such a fine day.")
        await until(lambda: bool(gm.harness.engine.requests))
    async with open_gm_harness(tmp_path, answering("Mr Bennet")) as gm:
        gm.harness.theatre.play_owed()
        await calm(gm.harness, scene)
        assert [speaker for speaker, _ in gm.harness.delivery.shown] == ["Mr Bennet"]
