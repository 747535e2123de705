"""A prompt contains only the turns that its mind heard."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine.protocol import Dialect
from bot.her.beats import Beat, action, planning, speech, thought
from bot.library.scenario import NARRATOR
from bot.scenes import mind, prompt_builder
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from tests.scenes.scene_harness import STUDY

if TYPE_CHECKING:
    from collections.abc import Callable

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
CAST = [character.name for character in STUDY.characters]

speakers = st.sampled_from([*CAST, "Alice", NARRATOR, "élise ||x||"])
audiences = st.none() | st.frozensets(st.sampled_from(CAST))
kinds = st.sampled_from([kind for kind in TurnKind if kind is not TurnKind.SETTING])
MAKERS: list[Callable[[str], Beat]] = [speech, action, thought, planning]
beats = st.lists(st.sampled_from(MAKERS), min_size=1, max_size=4)


@st.composite
def stories(draw: st.DrawFn) -> list[Turn]:
    """Return turns of every kind, each beat with a unique word."""
    turns = []
    for number in range(draw(st.integers(1, 8))):
        made: list[Beat] = [
            make(f"WORD-{number}-{place}") for place, make in enumerate(draw(beats))
        ]
        take = Take(number, 1, tuple(made), "raw", 1)
        turn = Turn(number, 1, draw(kinds), draw(speakers), TurnState.DONE, NOON, take)
        turns.append(replace(turn, heard_by=draw(audiences)))
    return turns


@settings(max_examples=150)
@given(stories(), st.sampled_from(CAST), st.sampled_from(Dialect))
def test_a_secret_is_only_in_the_prompts_of_those_who_heard_it(
    story: list[Turn], character: str, dialect: Dialect
) -> None:
    prompt = prompt_builder.build_prompt(STUDY, character, story, dialect).text
    for turn in story:
        own = turn.speaker == character
        was_heard = own or turn.heard_by is None or character in turn.heard_by
        for beat in turn.take.beats if turn.take else ():
            known = was_heard and (
                beat.kind not in ("thought", "planning") or (own and beat.kind == "thought")
            )
            assert (beat.text in prompt) == (
                known and not (turn.kind is TurnKind.NARRATION and beat.kind == "thought")
            )


@given(stories())
def test_public_lines_contain_no_whisper_and_no_thought(story: list[Turn]) -> None:
    for turn in story:
        line = mind.select_public_line(turn)
        shown = {beat.text for beat in line.beats} if line else set()
        for beat in turn.take.beats if turn.take else ():
            assert (beat.text in shown) == (
                turn.kind is not TurnKind.WHISPER and beat.kind in ("speech", "action")
            )


def test_an_absent_mind_keeps_its_own_turns() -> None:
    take = Take(1, 1, (thought("SECRET"), speech("Well.")), "raw", 1)
    turn = Turn(1, 1, TurnKind.REPLY, "Mr Bennet", TurnState.DONE, NOON, take, heard_by=frozenset())
    assert "SECRET" in prompt_builder.build_prompt(STUDY, "Mr Bennet", [turn], Dialect.HER).text
    assert "Well." not in prompt_builder.build_prompt(STUDY, "Mrs Bennet", [turn], Dialect.HER).text


def test_a_setting_remains_after_its_turn_left_the_context() -> None:
    take = Take(1, 1, (speech("The terrace"),), "The terrace")
    moved = Turn(1, 1, TurnKind.SETTING, mind.PLACE, TurnState.DONE, NOON, take)
    prompt = prompt_builder.build_prompt(STUDY, "Mr Bennet", [], Dialect.HER, left_out=[moved]).text
    assert "Place: The terrace" in prompt
    assert "Environment" not in prompt
