"""Pieces of text become beats."""

from __future__ import annotations

import pytest

from bot.her.beat_builder import BeatBuilder
from bot.her.beats import (
    BeatKind,
    action,
    speech,
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
def test_adjacent_pieces_of_one_kind_merge(
    kind: BeatKind, pieces: tuple[str, ...], text: str
) -> None:
    script = BeatBuilder()
    for piece in pieces:
        script.add(kind, piece)
    assert [(beat.kind, beat.text) for beat in script.beats] == [(kind, text)]


def test_a_continued_piece_keeps_its_spaces_and_edges_are_trimmed() -> None:
    script = BeatBuilder()
    script.add(SPEECH, "\n Good")
    for piece in ("  ", "day", ",", "\n\n\nsir. "):
        script.add(SPEECH, piece, separate=False)
    script.add(ACTION, " ")
    script.add(ACTION, "bows")
    assert script.beats == (speech("Good  day,\n\n\nsir."), action("bows"))


def test_the_builder_knows_if_it_holds_public_text() -> None:
    script = BeatBuilder()
    script.add(THOUGHT, "Odd.")
    script.add(SPEECH, " ")
    assert not script.has_public
    script.add(SPEECH, "Sir.")
    assert script.has_public
