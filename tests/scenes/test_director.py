"""Who speaks: whoever is addressed, whoever is likely to, and one reply for two lines at once."""

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
from tests.scenes.gm_harness import Directed, a_directed_house
from tests.scenes.harness import ALICE, BOB, GM, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bot.engine.protocol import Request
    from bot.scenes.scene import Scene
    from tests.scenes.harness import House

ANY = "Be dry.</system_thinking><role_action>nods</role_action>Indeed."


def answering(
    *choices: str | EngineError | Scripted,
) -> Callable[[Request], str | EngineError | Scripted]:
    """An engine that names these speakers, one after the other and then nobody, and plays whom it is asked to."""
    left = list(choices)

    def answer(request: Request) -> str | EngineError | Scripted:
        if request.mind.endswith("/(director)"):
            return left.pop(0) if left else "Nobody"
        return ANY

    return answer


async def auto(directed: Directed, budget: int = 3) -> Scene:
    return await directed.direction.set_mode(await directed.house.begin(), Mode.AUTO, budget, GM)


async def calm(house: House, scene: Scene) -> None:
    running = house.theatre.running(scene.id)
    assert running is not None
    await running.runner.wait_until_idle()


async def test_in_auto_whoever_the_engine_names_answers_unasked(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, answering("Mrs Bennet")) as directed:
        scene = await auto(directed)
        await directed.house.say(scene, "What a fine day.")
        await calm(directed.house, scene)
        assert [speaker for speaker, _ in directed.house.stage.shown] == ["Mrs Bennet"]
        asked = directed.house.engine.requests[0]
        assert "What a fine day." in asked.prompt.text
        assert asked.max_tokens <= 32
        assert asked.planning_tokens is None


async def test_who_just_spoke_is_never_offered_and_never_taken(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, answering("Mrs Bennet", "Mrs Bennet")) as directed:
        scene = await auto(directed)
        await directed.house.say(scene, "What a fine day.")
        await calm(directed.house, scene)
        second = [one for one in directed.house.engine.requests if one.mind.endswith("(director)")][
            1
        ]
        assert "- Mrs Bennet" not in second.prompt.text
        speakers = [speaker for speaker, _ in directed.house.stage.shown]
        assert all(one != other for one, other in pairwise(speakers))


async def test_characters_talk_among_themselves_until_the_budget_is_spent_and_a_line_resets_it(
    tmp_path: Path,
) -> None:
    names = ["Mr Bennet", "Mrs Bennet"] * 20
    async with a_directed_house(tmp_path, answering(*names)) as directed:
        scene = await auto(directed, budget=4)
        await directed.house.say(scene, "What a fine day.")
        await calm(directed.house, scene)
        assert len(directed.house.stage.shown) == 4
        await directed.house.say(scene, "Is it not?")
        await calm(directed.house, scene)
        assert len(directed.house.stage.shown) == 8


async def test_nobody_answers_where_the_engine_says_so_and_it_is_asked_once(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, answering("nobody.")) as directed:
        scene = await auto(directed)
        await directed.house.say(scene, "What a fine day.")
        await calm(directed.house, scene)
        running = directed.house.theatre.running(scene.id)
        assert running is not None
        running.runner.wake()
        await calm(directed.house, scene)
        assert len(directed.house.engine.requests) == 1
        assert directed.house.stage.shown == []


@pytest.mark.parametrize("trouble", [EngineBusy("Too many wait."), "I'd rather not say, really"])
async def test_where_the_engine_cannot_say_a_mention_decides(
    tmp_path: Path, trouble: str | EngineError
) -> None:
    async with a_directed_house(tmp_path, answering(trouble)) as directed:
        scene = await auto(directed)
        await directed.house.say(scene, "I wonder what Mr. Bennet would say.")
        await calm(directed.house, scene)
        assert [speaker for speaker, _ in directed.house.stage.shown] == ["Mr Bennet"]


async def test_who_is_played_rests_or_is_off_stage_is_not_taken(tmp_path: Path) -> None:
    async with a_directed_house(
        tmp_path, answering("Mr Bennet", "Mrs Bennet", "Elizabeth Bennet")
    ) as directed:
        scene = await auto(directed)
        scene = await directed.house.theatre.controls.join(scene, BOB, "Mr Bennet")
        scene = await directed.direction.rest(scene, "Mrs Bennet", GM, rests=True)
        await directed.direction.leave_stage(scene, "Elizabeth", GM)
        for text in ("One.", "Two.", "Three."):
            await directed.house.say(scene, text)
            await calm(directed.house, scene)
        assert directed.house.engine.requests == []


async def test_where_a_players_character_should_speak_the_model_waits_for_the_player(
    tmp_path: Path,
) -> None:
    async with a_directed_house(tmp_path, answering("Mr Bennet")) as directed:
        scene = await directed.house.theatre.controls.join(await auto(directed), BOB, "Mr Bennet")
        await directed.house.say(scene, "Papa Bennet?")
        await calm(directed.house, scene)
        assert directed.house.stage.shown == []


async def test_whispers_and_thoughts_are_not_the_directors_to_know(tmp_path: Path) -> None:
    thinking = reply("Mrs Bennet", plan="PLAN", thinks="SECRET", says="My nerves!")
    async with a_directed_house(tmp_path, thinking, thinking, "Nobody") as directed:
        scene = await directed.house.begin()
        await directed.telling.whisper(scene, "Mrs Bennet", "PICKLES", Speaker(ALICE, "Alice"))
        await directed.house.quiet(scene)
        await directed.house.say(scene, "Mama?", "Mrs Bennet")
        await directed.house.quiet(scene)
        await directed.direction.set_mode(scene, Mode.AUTO, 3, GM)
        await calm(directed.house, scene)
        asked = directed.house.engine.requests[-1]
        assert asked.mind.endswith("(director)")
        assert "My nerves!" in asked.prompt.text
        for secret in ("PICKLES", "SECRET", "PLAN", "He will not lose Lizzy."):
            assert secret not in asked.prompt.text


async def test_a_line_said_while_the_engine_ponders_is_answered_at_once(tmp_path: Path) -> None:
    async with a_directed_house(
        tmp_path, answering(Scripted("Mrs Bennet", pause=60), "Nobody", "Nobody")
    ) as directed:
        scene = await auto(directed)
        await directed.house.say(scene, "What a fine day.")
        await until(lambda: bool(directed.house.engine.requests))
        await directed.house.say(scene, "Papa?", "Mr Bennet")
        await until(lambda: bool(directed.house.stage.shown))
        assert [speaker for speaker, _ in directed.house.stage.shown] == ["Mr Bennet"]
        await calm(directed.house, scene)


async def test_two_lines_to_a_character_that_has_said_nothing_yet_are_answered_by_one_reply(
    tmp_path: Path,
) -> None:
    async with a_directed_house(tmp_path, ANY) as directed:
        house = directed.house
        scene = await house.begin()
        house.engine.gate.clear()
        await house.say(scene, "MARMALADE?", "Mr Bennet")
        await until(lambda: bool(house.engine.requests))
        await house.say(scene, "PICKLES?", "Mr Bennet", author=BOB, name="Bob")
        house.engine.gate.set()
        await house.quiet(scene)
        assert [speaker for speaker, _ in await house.story(scene)] == ["Alice", "Bob", "Mr Bennet"]
        prompt = house.engine.requests[-1].prompt.text
        assert prompt.index("Alice: MARMALADE?") < prompt.index("Bob: PICKLES?")
        assert len(house.engine.cancelled) == 1
        assert len(house.stage.shown) == 1


async def test_a_reply_that_is_being_heard_stays_and_the_second_line_gets_its_own(
    tmp_path: Path,
) -> None:
    slow = Scripted(
        reply("Mr Bennet", says=" ".join(f"word{number}" for number in range(30))),
        chunk=8,
        pause=0.01,
    )
    async with a_directed_house(tmp_path, slow) as directed:
        house = directed.house
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
        await until(lambda: bool(house.stage.progressed))
        await house.say(scene, "Papa!", "Mr Bennet", author=BOB, name="Bob")
        await house.quiet(scene)
        assert len(house.stage.shown) == 2
        assert house.engine.cancelled == []


async def test_deleting_one_of_two_lines_leaves_the_other_its_answer(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, ANY) as directed:
        house = directed.house
        scene = await house.begin()
        house.engine.gate.clear()
        await house.say(scene, "MARMALADE?", "Mr Bennet")
        second = await house.say(scene, "PICKLES?", "Mr Bennet", author=BOB, name="Bob")
        await house.hearing.withdraw(scene, second)
        house.engine.gate.set()
        await house.quiet(scene)
        assert [speaker for speaker, _ in await house.story(scene)] == ["Alice", "Mr Bennet"]
        assert "PICKLES" not in house.engine.requests[-1].prompt.text


async def test_many_at_once_are_all_in_the_story_in_order_and_answered(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, ANY) as directed:
        house = directed.house
        scene = await house.begin()
        await asyncio.gather(
            *(
                house.say(
                    scene, f"Line {number}", "Mr Bennet", author=100 + number, name=f"P{number}"
                )
                for number in range(8)
            )
        )
        await house.quiet(scene)
        lines = [text for speaker, text in await house.story(scene) if speaker.startswith("P")]
        assert lines == [f"Line {number}" for number in range(8)]
        replies = [
            turn
            for turn in await directed.turns(scene)
            if turn.state is TurnState.DONE and turn.answered
        ]
        assert len({line for turn in replies for line in turn.answered}) == 8


async def test_after_a_restart_an_old_line_stirs_nobody_and_a_fresh_one_is_taken_up(
    tmp_path: Path,
) -> None:
    async with a_directed_house(tmp_path, answering(Scripted("Mrs Bennet", pause=60))) as directed:
        scene = await auto(directed)
        await directed.house.say(scene, "What a fine day.")
        await until(lambda: bool(directed.house.engine.requests))
    async with a_directed_house(tmp_path, answering("Mr Bennet")) as directed:
        directed.house.theatre.play_owed()
        await calm(directed.house, scene)
        assert [speaker for speaker, _ in directed.house.stage.shown] == ["Mr Bennet"]
