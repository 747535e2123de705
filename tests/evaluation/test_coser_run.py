"""Scripted actors and judges with known flaws give the scores computed by hand."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from bot.errors import EngineError
from bot.evaluation.acting_scenes import ActingScene, read_acting_scenes
from bot.evaluation.coser_run import CoserOptions, CoserReport, run_coser
from bot.evaluation.journal import Journal
from bot.evaluation.judge import Dimension, judge_prompt
from bot.evaluation.self_play import END, Company
from bot.library.scenario import NARRATOR
from tests.engine.scripted_engine import ScriptedEngine
from tests.evaluation.acting import REPLY, ScriptedChat, flaws, write_scenes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bot.engine.protocol import Request
    from bot.her.layout import Message


def play_along(request: Request) -> str:
    name = "Mr Bennet" if "You are Mr Bennet" in request.prompt.text else "Elizabeth Bennet"
    return REPLY.format(name=name)


def alternate(messages: Sequence[Message]) -> str:
    """A director that never picks whoever has just spoken."""
    last = messages[1].text.rsplit("\n\n", 2)[-2]
    return "Elizabeth Bennet" if last.startswith("Mr Bennet") else "Mr Bennet"


def judge_all(messages: Sequence[Message], *severities: int | None) -> str:
    asked = next(one for one in Dimension if f"one dimension only: {one}," in messages[0].text)
    return flaws(asked, *severities)


@pytest.fixture
def scene(tmp_path: Path) -> ActingScene:
    (one,), _ = read_acting_scenes(write_scenes(tmp_path / "set.json"))
    return one


async def company(director: ScriptedChat | None = None) -> Company:
    engine = ScriptedEngine([play_along])
    await engine.start()
    narrator = ScriptedChat(lambda _: "A door closes somewhere.", "narrator")
    return Company(engine, director or ScriptedChat(alternate, "director"), narrator)


async def run(
    scene: ActingScene, judge: ScriptedChat, journal: Journal | None = None, jobs: int = 2
) -> CoserReport:
    options = CoserOptions(rounds=10, seed=1, jobs=jobs)
    return await run_coser([scene], await company(), judge, options, journal or Journal(None))


async def test_known_flaws_give_the_score_computed_by_hand(scene: ActingScene) -> None:
    report = await run(scene, ScriptedChat(lambda messages: judge_all(messages, 3, 4, None)))
    assert report.scenes[0].conversation.rounds == 10
    # three flaws of 3, 4 and 1, and ten rounds: 100 - (8 - 3) * 5
    assert {name: one.mean for name, one in report.dimensions.items()} == {
        str(dimension): 75.0 for dimension in Dimension
    }
    assert report.average is not None
    assert report.average.mean == 75.0


async def test_the_judge_reads_no_thoughts(scene: ActingScene) -> None:
    judge = ScriptedChat(judge_all)
    await run(scene, judge)
    for messages in judge.requests:
        read = "\n".join(message.text for message in messages)
        assert "Secret." not in read
        assert "I shall tease her" not in read
        assert "A letter, Lizzy." in read  # the reference
    assert "Mr Bennet: (smiles) Here is a letter." in judge.requests[0][1].text


async def test_the_prompt_names_the_dimension_and_the_profiles(scene: ActingScene) -> None:
    prompt = judge_prompt(scene, Dimension.CHARACTER_FIDELITY)
    assert "Character Fidelity" in prompt
    assert "## Mr Bennet\nHead of the family." in prompt


async def test_the_director_ends_a_scene_but_not_before_the_sixth_round(
    scene: ActingScene,
) -> None:
    ended = ScriptedChat(lambda _: END)
    report = await run_coser(
        [scene],
        await company(ended),
        ScriptedChat(judge_all),
        CoserOptions(rounds=20, seed=4),
        Journal(None),
    )
    conversation = report.scenes[0].conversation
    assert conversation.ended_by_director
    assert len(conversation.lines) == 6
    assert report.invalid_predictions == 5
    speakers = [line.speaker for line in conversation.lines]
    assert all(one != next_one for one, next_one in pairwise(speakers))


async def test_the_environment_speaks_with_its_own_voice(scene: ActingScene) -> None:
    order = iter([NARRATOR, "Mr Bennet", NARRATOR])
    director = ScriptedChat(lambda _: next(order))
    report = await run_coser(
        [scene],
        await company(director),
        ScriptedChat(judge_all),
        CoserOptions(rounds=4),
        Journal(None),
    )
    conversation = report.scenes[0].conversation
    assert [line.speaker for line in conversation.lines][1::2] == [NARRATOR, NARRATOR]
    assert conversation.lines[1].text == "A door closes somewhere."
    assert conversation.rounds == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I would rather not judge this.", "not JSON"),
        ('{"Anthropomorphism": {"flaws": "many"}}', "no flaws for"),
        ('{"flaws": ["bad"]}', "not an object"),
        ('{"flaws": [{"severity": 9}]}', "whole number"),
        ('{"flaws": [{"severity": true}]}', "whole number"),
        (EngineError("The judge's server failed 4 times (timeout)."), "timeout"),
    ],
)
async def test_a_broken_judge_is_counted_and_loses_no_work(
    scene: ActingScene, tmp_path: Path, answer: str | EngineError, reason: str
) -> None:
    journal = tmp_path / "journal.jsonl"
    broken = ScriptedChat(lambda _: answer)
    report = await run(scene, broken, Journal(journal))
    assert sum(report.judge_failures.values()) == len(Dimension)
    assert all(reason in failure for failure in report.judge_failures)
    assert report.average is None
    judge = ScriptedChat(judge_all)
    engine = ScriptedEngine([play_along])
    await engine.start()
    again = Company(
        engine, ScriptedChat(alternate, "director"), ScriptedChat(judge_all, "narrator")
    )
    options = CoserOptions(rounds=10, seed=1, jobs=2)
    repaired = await run_coser([scene], again, judge, options, Journal(journal))
    assert engine.requests == []  # the conversation came from the journal
    assert repaired.average is not None
    assert repaired.average.mean == 100.0


async def test_an_answer_with_words_around_the_json_is_read(scene: ActingScene) -> None:
    judge = ScriptedChat(lambda messages: f"```json\n{judge_all(messages, 2)}\n```\nDone.")
    report = await run(scene, judge)
    assert report.judge_failures == {}
    assert {one.mean for one in report.dimensions.values()} == {100.0}  # 2 - 0.3 * 10 < 0


async def test_an_interrupted_run_continues_with_the_finished_steps(
    scene: ActingScene, tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"
    asked = 0

    def judge_then_stop(messages: Sequence[Message]) -> str:
        nonlocal asked
        asked += 1
        if asked > 2:
            raise asyncio.CancelledError
        return judge_all(messages, 5)

    with pytest.raises((asyncio.CancelledError, BaseExceptionGroup)):
        await run(scene, ScriptedChat(judge_then_stop), Journal(path), jobs=1)
    judge = ScriptedChat(lambda messages: judge_all(messages, 5))
    report = await run(scene, judge, Journal(path))
    assert len(judge.requests) == len(Dimension) - 2
    assert len(report.dimensions) == len(Dimension)


async def test_the_same_seed_gives_the_same_conversation(scene: ActingScene) -> None:
    first, second = [await run(scene, ScriptedChat(judge_all)) for _ in range(2)]
    assert first.scenes[0].conversation.text() == second.scenes[0].conversation.text()


async def test_a_reply_that_stays_empty_is_counted_and_the_scene_goes_on(
    scene: ActingScene,
) -> None:
    engine = ScriptedEngine(
        ["Only a plan.</system_thinking>", "A plan.</system_thinking>", play_along]
    )
    await engine.start()
    cast = Company(
        engine, ScriptedChat(lambda _: "Elizabeth Bennet"), ScriptedChat(lambda _: "Rain.")
    )
    report = await run_coser(
        [scene], cast, ScriptedChat(judge_all), CoserOptions(rounds=2), Journal(None)
    )
    assert report.empty_replies == 1
    assert [line.speaker for line in report.scenes[0].conversation.lines] == ["Elizabeth Bennet"]
