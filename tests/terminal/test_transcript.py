"""A story as Markdown."""

from __future__ import annotations

from bot.her.beats import BeatKind, action, planning, speech, thought
from bot.scenes.turn import TurnKind
from bot.terminal.transcript import format_transcript
from tests.scenes.scene_harness import STUDY
from tests.terminal.test_terminal_delivery import turn

STORY = [
    turn(speech("The door opens."), kind=TurnKind.NARRATION),
    turn(planning("PLAN"), action("smiles"), thought("SECRET"), speech("Well.")),
    turn(speech("WHISPERED"), kind=TurnKind.WHISPER),
]


def test_a_transcript_contains_the_public_story_in_order() -> None:
    text = format_transcript(STUDY, STORY, ())
    assert text.startswith(
        "# The study\n\n*Pride and Prejudice*\n\nA library at Longbourn, the door shut.\n\n---\n\n"
    )
    assert text.endswith("**Mr Bennet**: The door opens.\n\n**Mr Bennet**: *smiles* Well.\n")
    for private in ("PLAN", "SECRET", "WHISPERED"):
        assert private not in text


def test_shown_thoughts_appear_in_their_place() -> None:
    text = format_transcript(STUDY, STORY, {BeatKind.THOUGHT})
    assert "**Mr Bennet**: *smiles* (💭 SECRET) Well." in text
    assert "PLAN" not in text
    assert "(📝 PLAN) *smiles*" in format_transcript(
        STUDY, STORY, {BeatKind.THOUGHT, BeatKind.PLANNING}
    )
