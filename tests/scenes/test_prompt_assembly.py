"""A prompt has its parts within the context, and its beginning stays the same for many turns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.errors import PromptTooLong
from bot.her.beats import action, speech, thought
from bot.scenes import mind
from bot.scenes.prompt_assembly import PromptSource, assemble_prompt
from bot.scenes.recollection import Recollection
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from tests.engine.scripted_engine import ScriptedEngine
from tests.scenes.scene_harness import STUDY

if TYPE_CHECKING:
    from bot.scenes.prompt_assembly import AssembledPrompt

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BENNET = PromptSource(STUDY, "Mr Bennet")
RESERVED = 200


def turn(number: int, words: int = 12) -> Turn:
    """A turn of Mr Bennet or of Alice with a marker."""
    own = number % 2 == 0
    beats = (thought("Hm."), action("nods")) if own else ()
    said = speech(f"MARK-{number}. " + "so it goes " * words)
    take = Take(number, 1, (*beats, said), "raw")
    kind, speaker = (TurnKind.REPLY, "Mr Bennet") if own else (TurnKind.LINE, "Alice")
    return Turn(number, 1, kind, speaker, TurnState.DONE, NOON, take)


def story(length: int) -> tuple[Turn, ...]:
    return tuple(turn(number) for number in range(1, length + 1))


async def assemble(recollection: Recollection, context: int = 1500) -> AssembledPrompt:
    engine = ScriptedEngine(["unused"], context=context)
    await engine.start()
    return await assemble_prompt(BENNET, recollection, engine, RESERVED)


async def test_a_story_that_fits_stays_whole() -> None:
    assembled = await assemble(Recollection(story(10)), context=8000)
    assert assembled.recollection.turns == story(10)
    assert not assembled.recollection.cut
    assert assembled.tokens == -(-len(assembled.prompt.text) // 4)


async def test_a_story_that_was_cut_before_stays_so() -> None:
    assembled = await assemble(Recollection(story(10), cut=True), context=8000)
    assert assembled.recollection.cut


@pytest.mark.parametrize("length", [30, 200, 3000])
async def test_the_oldest_turns_leave_in_one_block_that_frees_about_half(length: int) -> None:
    assembled = await assemble(Recollection(story(length)))
    turns = assembled.recollection.turns
    assert turns == story(length)[-len(turns) :]
    assert assembled.recollection.cut
    assert assembled.tokens <= 1500 - RESERVED
    assert 0.35 < assembled.turn_tokens / assembled.room < 0.65


async def test_the_beginning_stays_the_same_until_the_context_is_full_again() -> None:
    first = (await assemble(Recollection(story(60)))).recollection.turns[0].id
    beginning = ""
    kept = 0
    for length in range(60, 90):
        turns = story(length)[first - 1 :]
        assembled = await assemble(Recollection(turns, cut=True))
        if assembled.recollection.turns[0].id != first:
            break
        shared = assembled.prompt.text[: len(beginning)]
        assert shared == beginning
        beginning = assembled.prompt.text[:-200]
        kept += 1
    assert kept >= 6


async def test_profile_requirements_notes_and_the_latest_turn_always_stay() -> None:
    for context in range(700, 1400, 50):
        known = Recollection(story(40), notes=("It is dark.",))
        text = (await assemble(known, context)).prompt.text
        assert "Dry and idle." in text
        assert "Play only Mr Bennet, for one turn." in text
        assert "It is dark." in text
        assert "MARK-40." in text
        assert text.index("MARK-39.") < text.index("It is dark.") < text.index("MARK-40.")


async def test_a_context_without_room_for_these_is_refused() -> None:
    with pytest.raises(PromptTooLong, match="Shorten the scenario"):
        await assemble(Recollection(story(3)), context=450)


async def test_one_turn_that_nearly_fills_the_context_stays_alone() -> None:
    long = turn(41, words=200)
    assembled = await assemble(Recollection((*story(40), long)))
    assert assembled.recollection.turns[-1] == long
    assert assembled.tokens <= 1500 - RESERVED


async def test_a_change_of_setting_stays_after_its_turn_has_left() -> None:
    take = Take(1, 1, (speech("The terrace"),), "The terrace")
    moved = Turn(1, 1, TurnKind.SETTING, mind.PLACE, TurnState.DONE, NOON, take)
    rest = tuple(turn(number) for number in range(2, 60))
    assembled = await assemble(Recollection((moved, *rest)))
    assert moved not in assembled.recollection.turns
    assert "Place: The terrace" in assembled.prompt.text
    again = await assemble(assembled.recollection)
    assert again.prompt == assembled.prompt
