"""Which tokens of a reply belong to its format, for any split of the text into tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.engine.local.format_tracker import FormatTracker

NAME = "Mr Bennet"


def find_prose(pieces: list[str], speaker: str | None = NAME) -> str:
    """Return the tokens that count as prose, with a bar for each break between them."""
    tracker = FormatTracker(speaker)
    found = [
        part for number, piece in enumerate(pieces) for part in tracker.feed(number, piece.encode())
    ]
    return "".join("|" if part is None else pieces[part] for part in found)


@pytest.mark.parametrize(
    ("pieces", "prose"),
    [
        (["I", " think", " so"], "I think so"),
        (["<", "role", "_thinking", ">", "Hm", "</", "role", "_thinking", ">"], "|Hm|"),
        (
            ["A plan", ".</", "system", "_thinking", ">", "Mr", " Bennet", ":", " Well"],
            "A plan|| Well",
        ),
        (["Mr", " Bennet", " laughs"], "Mr Bennet laughs"),
        (["One", "\n", "Mr", " Bennet", ": ", "two", ".\n\n", "three"], "One||two|three"),
        (["I", " <", "3", " you", ", Mr", " Bennet", ":"], "I <3 you, Mr Bennet:"),
        (["2 <", "3 <", "role_action", ">", "nods"], "2 <|nods"),
        (["a", "<b", "><", "c", ">", "d"], "a||d"),
        (["", "Mr", " Bennet", "：", "好"], "||好"),
    ],
)
def test_tags_names_and_line_breaks_are_not_prose(pieces: list[str], prose: str) -> None:
    assert find_prose(pieces) == prose


def test_every_line_of_a_prompt_may_begin_with_a_name() -> None:
    pieces = ["user", "\n", "Jane", ":", " Hello", "\n", "Mary", " ", "B", ":", " So", " it: is"]
    assert find_prose(pieces, None) == "user|| Hello|| So it: is"


@given(st.text(alphabet="ab <>/:_\n", max_size=30), st.integers(1, 4))
def test_tokens_keep_their_order_and_are_never_doubled(text: str, size: int) -> None:
    pieces = [text[start : start + size].encode() for start in range(0, len(text), size)]
    tracker = FormatTracker("a b")
    found = [part for number, piece in enumerate(pieces) for part in tracker.feed(number, piece)]
    prose = [part for part in found if part is not None]
    assert prose == sorted(set(prose))


def test_tokens_that_continue_a_name_may_be_format_and_others_may_not() -> None:
    tracker = FormatTracker(NAME)
    assert tracker.may_be_format(b"Mr")
    assert tracker.may_be_format(b" ")
    assert tracker.may_be_format(b"</")
    assert not tracker.may_be_format(b"Mary")
    assert list(tracker.feed(1, b"Mr")) == []
    assert tracker.may_be_format(b" Bennet")
    assert not tracker.may_be_format(b" Collins")
    assert list(tracker.feed(2, b" Collins")) == [1, 2]
    assert not tracker.may_be_format(b"Mr")
    assert tracker.may_be_format(b".\n")
