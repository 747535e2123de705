"""Who gets which part of a story in a transcript."""

from __future__ import annotations

from bot.scenes.reveal import Revealed
from bot.transcript.transcript_content import Reader, select_turn
from tests.transcript.stories import PLAYER, STORY, STRANGER


def read_texts(reader: Reader) -> list[str]:
    return [
        beat.beat.text if isinstance(beat, Revealed) else beat.text
        for turn in STORY
        if (selected := select_turn(turn, reader))
        for beat in selected.beats
    ]


def test_everyone_gets_public_beats_and_the_thoughts_that_were_revealed_to_the_channel() -> None:
    assert read_texts(Reader(STRANGER)) == [
        "closes the door",
        "You sent for me?",
        "lays down his book",
        "I did, child.",
        "Revealed to all.",
        "An unhappy alternative.",
        "The clock strikes eleven.",
    ]


def test_a_whisper_is_only_in_the_transcript_of_those_it_was_for() -> None:
    assert read_texts(Reader(PLAYER))[-2:] == ["Is it Mr Collins?", "It is."]
    assert "It is." not in read_texts(Reader(STRANGER, has_thoughts=True))


def test_a_game_master_who_asks_gets_planning_and_thoughts_in_their_places() -> None:
    assert read_texts(Reader(STRANGER, has_thoughts=True))[2:6] == [
        "He should tease her.",
        "She does not know yet.",
        "lays down his book",
        "I did, child.",
    ]


def test_a_withdrawn_turn_is_in_no_transcript() -> None:
    for reader in (Reader(PLAYER), Reader(STRANGER, has_thoughts=True)):
        assert "Withdrawn." not in read_texts(reader)
