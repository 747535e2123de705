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
from tests.scenes.harness import STUDY

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


def moment(*told: Turn, seed: int = 1, **talkative: float) -> Moment:
    """A moment in a study where talkativeness is given by last names."""
    cast = tuple(
        character.model_copy(
            update={"talkativeness": talkative.get(character.name.split()[0], 0.5)}
        )
        for character in STUDY.characters
    )
    scenario = STUDY.model_copy(update={"characters": cast})
    scene = Scene(1, Place(1, 1), scenario, (1,), tuple(Part(one.name) for one in cast), NOON)
    return Moment(scene, told, seed)


def odd_moment(*told: Turn) -> Moment:
    cast = tuple(Character(name=name) for name in ODD)
    scenario = STUDY.model_copy(update={"characters": cast})
    return Moment(
        Scene(1, Place(1, 1), scenario, (1,), tuple(Part(name) for name in ODD), NOON), told, 1
    )


@pytest.mark.parametrize("name", ODD)
def test_any_name_a_character_may_have_is_understood(name: str) -> None:
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
def test_an_answer_is_read_leniently(answer: str, meant: str | None) -> None:
    assert parse_speaker(answer, moment(turn("Alice", author=9))) == meant


def test_a_grammar_lets_through_names_as_they_are() -> None:
    assert (
        build_choice_grammar(('Say "no" \\', "Nobody"))
        == 'root ::= "Say \\"no\\" \\\\" | "Nobody"\n'
    )


def test_who_is_mentioned_answers_but_never_themselves() -> None:
    assert guess_speaker(moment(turn("Alice", "Where is Elizabeth?", 9))) == "Elizabeth Bennet"
    told = turn("Elizabeth Bennet", "I, Elizabeth, ask you, mrs bennet.")
    assert {guess_speaker(moment(told, seed=seed)) for seed in range(20)} == {"Mrs Bennet"}


def test_a_persons_line_is_always_answered_and_by_the_talkative_most() -> None:
    said = turn("Alice", author=9)
    speakers = Counter(
        guess_speaker(moment(said, seed=seed, Mr=0.1, Mrs=0.9, Elizabeth=0.5))
        for seed in range(300)
    )
    assert None not in speakers
    assert speakers["Mrs Bennet"] > speakers["Elizabeth Bennet"] > speakers["Mr Bennet"] > 0


def test_who_was_silent_for_long_is_likelier_than_who_just_spoke() -> None:
    told = (turn("Mr Bennet"), turn("Alice", author=9))
    speakers = Counter(guess_speaker(moment(*told, seed=seed)) for seed in range(300))
    assert speakers["Mr Bennet"] < speakers["Mrs Bennet"]


def test_who_never_speaks_unasked_does_not() -> None:
    said = turn("Alice", author=9)
    assert guess_speaker(moment(said, Mr=0, Mrs=0, Elizabeth=0)) is None
    assert {guess_speaker(moment(said, seed=seed, Mr=0, Mrs=0)) for seed in range(30)} == {
        "Elizabeth Bennet"
    }


def test_a_characters_line_is_answered_only_sometimes() -> None:
    told = turn("Mr Bennet")
    speakers = Counter(
        guess_speaker(moment(told, seed=seed, Mrs=0.3, Elizabeth=0.3)) for seed in range(300)
    )
    assert speakers[None] > 150
    assert "Mr Bennet" not in speakers


def test_who_speaks_only_of_a_players_character_is_answered_by_the_player() -> None:
    here = moment(turn("Alice", "And you, Mr Bennet?", 9))
    parts = (replace(here.scene.parts[0], player_id=5), *here.scene.parts[1:])
    assert {
        guess_speaker(Moment(replace(here.scene, parts=parts), here.story, seed))
        for seed in range(20)
    } == {None}


def test_nobody_speaks_on_an_empty_stage() -> None:
    here = moment(turn("Alice", author=9))
    parts = tuple(replace(part, absent=True) for part in here.scene.parts)
    assert Moment(replace(here.scene, parts=parts), here.story, 1).candidates == []


async def test_a_slow_engine_is_not_waited_for() -> None:
    engine = ScriptedEngine([Scripted("Mrs Bennet", pause=60)])
    await engine.start()
    told = moment(turn("Alice", "Where is Elizabeth?", 9))
    assert await choose_next_speaker(engine, told, seconds=0.01) == "Elizabeth Bennet"
    assert len(engine.cancelled) == 1


async def test_a_stand_in_is_not_asked() -> None:
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


async def test_an_engine_that_can_be_held_is_held_to_the_names() -> None:
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
