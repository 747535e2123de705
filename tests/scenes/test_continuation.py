"""A continuation adds beats to a reply and never changes those that were there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.her.beats import BeatKind, PrivateBeat, action, planning, select_public, speech, thought
from bot.scenes.continuation import ContinuationParser
from tests.scenes.replied_scene import answered
from tests.scenes.scene_harness import ALICE, open_harness, reply

if TYPE_CHECKING:
    from pathlib import Path

    from bot.her.beats import Beat

BEFORE = (planning("PLAN"), thought("SECRET"), action("smiles"), speech("You refuse him?"))
TAGS = [
    f"<{slash}{name}>"
    for name in ("system_thinking", "role_thinking", "role_action")
    for slash in ("", "/")
]
PIECES = [*TAGS, " And why?", "*waits*", "Mr Bennet: ", "\nElizabeth: ", "<", "\n\n", "SECRET", "x"]


def continue_with(
    text: str, before: tuple[Beat, ...] = BEFORE, *, well_formed: bool = False, chunk: int = 7
) -> tuple[Beat, ...]:
    parser = ContinuationParser(
        before, "Mr Bennet", ("Elizabeth",), well_formed=well_formed, aliases=()
    )
    for start in range(0, len(text), chunk):
        parser.feed(text[start : start + chunk])
        assert starts_with(parser.beats, before)
    return parser.close()


def starts_with(beats: tuple[Beat, ...], before: tuple[Beat, ...]) -> bool:
    """Return whether beats begin with `before`, whose final speech may have grown."""
    last = beats[len(before) - 1]
    return (
        beats[: len(before) - 1] == before[:-1]
        and last.kind is before[-1].kind
        and last.text.startswith(before[-1].text)
    )


@pytest.mark.parametrize(
    ("text", "public"),
    [
        (" And why?", ["smiles", "You refuse him? And why?"]),
        ("And why?", ["smiles", "You refuse him? And why?"]),
        ("<role_action>waits</role_action>", ["smiles", "You refuse him?", "waits"]),
        ("</role_thinking> Never.", ["smiles", "You refuse him? Never."]),
        ("</system_thinking> Never.", ["smiles", "You refuse him? Never."]),
        ("<role_thinking>Never closed", ["smiles", "You refuse him?"]),
        ("Elizabeth: I do.", ["smiles", "You refuse him?"]),
        ("Mr Bennet: Well?", ["smiles", "You refuse him? Well?"]),
        ("", ["smiles", "You refuse him?"]),
    ],
)
def test_new_text_is_added_to_the_beats(text: str, public: list[str]) -> None:
    assert [beat.text for beat in select_public(continue_with(text))] == public


def test_a_word_that_was_cut_is_completed() -> None:
    assert continue_with("ld go.", (speech("You shou"),)) == (speech("You should go."),)


def test_new_thoughts_stay_private() -> None:
    beats = continue_with(" Well.<role_thinking>Poor child.</role_thinking>")
    assert beats[-1] == thought("Poor child.")


@given(st.lists(st.sampled_from(PIECES), max_size=8), st.booleans(), st.integers(1, 9))
def test_malformed_text_never_changes_the_beats_before(
    pieces: list[str], well_formed: bool, chunk: int
) -> None:
    beats = continue_with("".join(pieces), well_formed=well_formed, chunk=chunk)
    assert starts_with(beats, BEFORE)
    released = [beat.text for beat in select_public(beats[:4])]
    assert not any("PLAN" in text for text in released)


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_a_final_thought_is_neither_released_nor_swallowed(pieces: list[str]) -> None:
    before = (speech("Well."), thought("HIDDEN"))
    beats = continue_with("".join(pieces), before)
    assert beats[:2] == before
    assert all("HIDDEN" not in beat.text for beat in select_public(beats))


@pytest.mark.parametrize(
    "more",
    [
        "</role_thinking> And why?",
        "<role_thinking>Why? And why?",
        "</role_action></system_thinking> And why?",
        "<system_thinking> And why?",
    ],
)
async def test_a_malformed_continuation_changes_no_beat_of_the_reply(
    tmp_path: Path, more: str
) -> None:
    first = reply("Mr Bennet", says="You refuse him?")
    async with open_harness(tmp_path, first, more) as harness:
        scene, turn = await answered(harness)
        await harness.takes.retake(turn.id, ALICE, lengthen=True)
        await harness.wait_until_idle(scene)
        after = await harness.store.turn(turn.id)
        assert after
        assert after.take
        assert turn.take
        assert starts_with(after.take.beats, turn.take.beats)
        private = [beat for beat in after.take.beats if isinstance(beat, PrivateBeat)]
        assert [beat.kind for beat in private[:2]] == [BeatKind.PLANNING, BeatKind.THOUGHT]
