"""Beats as they come together."""

from __future__ import annotations

import pytest

from bot.her.beat_builder import BeatBuilder
from bot.her.beats import (
    BeatKind,
    PrivateBeat,
    PublicBeat,
    action,
    planning,
    select_public,
    speech,
    thought,
)

SPEECH, ACTION, THOUGHT = BeatKind.SPEECH, BeatKind.ACTION, BeatKind.THOUGHT


@pytest.mark.parametrize(
    ("kind", "pieces", "text"),
    [
        (SPEECH, ("Sir.", "Go."), "Sir. Go."),
        (SPEECH, ("Sir.\n", "\n\n\nGo."), "Sir.\n\nGo."),
        (SPEECH, ("你好。", "再见。"), "你好。再见。"),
        (ACTION, ("bows", "smiles"), "bows, smiles"),
        (ACTION, ("bows.", "smiles"), "bows. smiles"),
        (ACTION, ("鞠躬", "微笑"), "鞠躬，微笑"),
        (THOUGHT, ("Odd.", " ", "Hm."), "Odd. Hm."),
    ],
)
def test_neighbours_of_one_kind_merge(kind: BeatKind, pieces: tuple[str, ...], text: str) -> None:
    script = BeatBuilder()
    for piece in pieces:
        script.add(kind, piece)
    assert [(beat.kind, beat.text) for beat in script.beats] == [(kind, text)]


def test_a_piece_that_goes_on_keeps_its_own_spaces_and_edges_are_trimmed() -> None:
    script = BeatBuilder()
    script.add(SPEECH, "\n Good")
    for piece in ("  ", "day", ",", "\n\n\nsir. "):
        script.add(SPEECH, piece, separate=False)
    script.add(ACTION, " ")
    script.add(ACTION, "bows")
    assert script.beats == (speech("Good  day,\n\n\nsir."), action("bows"))


def test_whether_anything_public_was_said_is_known() -> None:
    script = BeatBuilder()
    script.add(THOUGHT, "Odd.")
    script.add(SPEECH, " ")
    assert not script.has_public
    script.add(SPEECH, "Sir.")
    assert script.has_public


def test_the_types_of_beats_carry_who_may_see_them() -> None:
    beats = (planning("x"), speech("Sir."), thought("y"), action("bows"))
    assert select_public(beats) == (speech("Sir."), action("bows"))
    with pytest.raises(ValueError, match="public"):
        PublicBeat(THOUGHT, "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="private"):
        PrivateBeat(SPEECH, "x")  # type: ignore[arg-type]
