"""Phrases repeated endlessly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.her.repetition import RepetitionDetector, collapse_repetition, is_repeating


@pytest.mark.parametrize(
    "phrase",
    [
        "I love you. ",
        "no, no, please ",
        "我爱你，永远。",
        "\nAnd then I saw her again.\n",
        "<b>x</b>",
    ],
)
def test_a_phrase_repeated_over_and_over_is_a_loop(phrase: str) -> None:
    assert is_repeating("Well. " + phrase * 30)
    assert not is_repeating(phrase * 2)
    assert collapse_repetition("Well. " + phrase * 30).count(phrase.strip()) == 1


@pytest.mark.parametrize(
    "text", ["ha" * 40, "N" + "o" * 100, "-" * 200, ". " * 60, "", "x", "Rain, rain, rain, rain."]
)
def test_a_laugh_a_scream_and_a_divider_are_not_loops(text: str) -> None:
    assert not is_repeating(text)
    assert collapse_repetition(text) == text


@pytest.mark.parametrize("text", ["ha" * 200, "o" * 300, "-" * 900, "\n" * 900])
def test_an_endless_laugh_scream_or_divider_is_a_loop(text: str) -> None:
    assert is_repeating(text)


@given(st.integers(0, 200), st.integers(1, 90))
@settings(max_examples=50, deadline=None)
def test_the_cut_does_not_depend_on_the_chunks(before: int, size: int) -> None:
    text = (
        "abcdefghij klmno"[: before % 16] + "".join(map(str, range(before))) + "I love you. " * 60
    )
    watch = RepetitionDetector()
    kept = 0
    for start in range(0, len(text), size):
        cut = watch.feed(text[start : start + size])
        kept += len(text[start : start + size]) if cut is None else cut
        if cut is not None:
            break
    assert kept == RepetitionDetector().feed(text)
