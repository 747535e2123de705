from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.her.beats import speech
from bot.library.scenario import Character
from bot.scenes.scene import Part, Place, Scene
from bot.scenes.speaker_prediction import (
    NOBODY,
    Moment,
    build_choice_grammar,
    choose_next_speaker,
    guess_speaker,
    parse_speaker,
)
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.scenes.scene_harness import STUDY

if TYPE_CHECKING:
    from bot.engine.protocol import EngineInfo

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ODD = ("🐉 Drake", "עליזה", "班纳特先生", "N" * 80, "everyone", 'Say "no" \\', "Jane")


def turn(speaker: str, text: str = "Well.", author: int | None = None) -> Turn:
    take = Take(1, 1, (speech(text),), text)
    return Turn(
        1,
        1,
        TurnKind.LINE if author else TurnKind.REPLY,
        speaker,
        TurnState.DONE,
        NOON,
        take,
        author_id=author,
    )


def moment(*turns: Turn, seed: int = 1, **talkative: float) -> Moment:
    """Return a moment in a scene of these characters."""
    cast = tuple(
        character.model_copy(
            update={"talkativeness": talkative.get(character.name.split()[0], 0.5)}
        )
        for character in STUDY.characters
    )
    scenario = STUDY.model_copy(update={"characters": cast})
    scene = Scene(1, Place(1, 1), scenario, (1,), tuple(Part(one.name) for one in cast), NOON)
    return Moment(scene, turns, seed)


def odd_moment(*turns: Turn) -> Moment:
    cast = tuple(Character(name=name) for name in ODD)
    scenario = STUDY.model_copy(update={"characters": cast})
    return Moment(
        Scene(1, Place(1, 1), scenario, (1,), tuple(Part(name) for name in ODD), NOON), turns, 1
    )


@pytest.mark.parametrize("name", ODD)
def test_every_name_of_a_character_is_understood(name: str) -> None:
    assert parse_speaker(name, odd_moment()) == name
    assert parse_speaker(f"“{name}”", odd_moment()) in (name, "Jane", None) or name.startswith(
        "Say"
    )


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("Mrs Bennet", "Mrs Bennet"),
        (" mrs. bennet.\n", "Mrs Bennet"),
        ("**Elizabeth**", "Elizabeth Bennet"),
        ("I think Mrs Bennet would answer Mr Bennet here.", "Mrs Bennet"),
        ("Nobody", NOBODY),
        ("nobody answers", NOBODY),
        ("Lady Catherine", None),
        ("", None),
    ],
)
def test_an_answer_is_parsed_leniently(answer: str, meant: str | None) -> None:
    assert parse_speaker(answer, moment(turn("Alice", author=9))) == meant


def test_the_grammar_accepts_names_unchanged() -> None:
    assert (
        build_choice_grammar(('Say "no" \\', "Nobody"))
        == 'root ::= "Say \\"no\\" \\\\" | "Nobody"\n'
    )


def test_a_mentioned_character_answers_unless_it_spoke_last() -> None:
    assert guess_speaker(moment(turn("Alice", "Where is Elizabeth?", 9))) == "Elizabeth Bennet"
    line = turn("Elizabeth Bennet", "I, Elizabeth, ask you, mrs bennet.")
    assert {guess_speaker(moment(line, seed=seed)) for seed in range(20)} == {"Mrs Bennet"}


def test_a_persons_line_is_always_answered_mostly_by_the_talkative() -> None:
    said = turn("Alice", author=9)
    speakers = Counter(
        guess_speaker(moment(said, seed=seed, Mr=0.1, Mrs=0.9, Elizabeth=0.5))
        for seed in range(300)
    )
    assert None not in speakers
    assert speakers["Mrs Bennet"] > speakers["Elizabeth Bennet"] > speakers["Mr Bennet"] > 0


def test_a_long_silence_makes_a_character_likelier() -> None:
    story = (turn("Mr Bennet"), turn("Alice", author=9))
    speakers = Counter(guess_speaker(moment(*story, seed=seed)) for seed in range(300))
    assert speakers["Mr Bennet"] < speakers["Mrs Bennet"]


def test_a_character_without_talkativeness_never_speaks_unaddressed() -> None:
    said = turn("Alice", author=9)
    assert guess_speaker(moment(said, Mr=0, Mrs=0, Elizabeth=0)) is None
    assert {guess_speaker(moment(said, seed=seed, Mr=0, Mrs=0)) for seed in range(30)} == {
        "Elizabeth Bennet"
    }


def test_a_characters_line_is_answered_only_sometimes() -> None:
    line = turn("Mr Bennet")
    speakers = Counter(
        guess_speaker(moment(line, seed=seed, Mrs=0.3, Elizabeth=0.3)) for seed in range(300)
    )
    assert speakers[None] > 150
    assert "Mr Bennet" not in speakers


def test_the_model_does_not_answer_a_line_about_a_players_character() -> None:
    here = moment(turn("Alice", "And you, Mr Bennet?", 9))
    parts = (replace(here.scene.parts[0], player_id=5), *here.scene.parts[1:])
    assert {
        guess_speaker(Moment(replace(here.scene, parts=parts), here.story, seed))
        for seed in range(20)
    } == {None}


def test_on_an_empty_stage_no_character_speaks() -> None:
    here = moment(turn("Alice", author=9))
    parts = tuple(replace(part, absent=True) for part in here.scene.parts)
    assert Moment(replace(here.scene, parts=parts), here.story, 1).candidates == []


async def test_a_slow_prediction_times_out() -> None:
    engine = ScriptedEngine([Scripted("Mrs Bennet", pause=60)])
    await engine.start()
    slow = moment(turn("Alice", "Where is Elizabeth?", 9))
    assert await choose_next_speaker(engine, slow, seconds=0.01) == "Elizabeth Bennet"
    assert len(engine.cancelled) == 1


async def test_the_demo_model_does_not_predict() -> None:
    class StandIn(ScriptedEngine):
        @property
        def info(self) -> EngineInfo:
            return replace(super().info, stand_in=True)

    engine = StandIn(["Mrs Bennet"])
    await engine.start()
    assert (
        await choose_next_speaker(engine, moment(turn("Alice", "Where is Elizabeth?", 9)))
        == "Elizabeth Bennet"
    )
    assert engine.requests == []


async def test_the_grammar_is_sent_if_the_engine_supports_one() -> None:
    class Held(ScriptedEngine):
        @property
        def info(self) -> EngineInfo:
            return replace(super().info, supports_grammar=True)

    engine = Held(["Mrs Bennet"])
    await engine.start()
    assert await choose_next_speaker(engine, moment(turn("Mr Bennet"))) == "Mrs Bennet"
    assert engine.requests[0].grammar == build_choice_grammar(
        ("Mrs Bennet", "Elizabeth Bennet", NOBODY)
    )
