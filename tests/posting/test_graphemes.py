"""Text as Discord counts it and people see it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.library.normalise import is_blank
from bot.posting.graphemes import clean, shorten, split_graphemes, utf16_length
from tests.posting.hostile_texts import marked, some


@pytest.mark.parametrize(
    ("text", "units"), [("night", 5), ("漢字", 2), ("é", 1), ("🙂", 2), ("👩‍👩‍👧", 8), ("", 0)]
)
def test_utf16_length_counts_code_units(text: str, units: int) -> None:
    assert utf16_length(text) == units == len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    "whole", ["e\u0301", "👩‍👩‍👧", "👍🏽", "🇬🇧", "☝️", "\\*", "\\|\u200b", "नि", "한", "1️⃣"]
)
def test_a_character_with_its_parts_is_one_grapheme(whole: str) -> None:
    assert list(split_graphemes(f"a{whole}b")) == ["a", whole, "b"]


def test_two_flags_are_two_graphemes() -> None:
    assert list(split_graphemes("🇬🇧🇫🇷")) == ["🇬🇧", "🇫🇷"]


def test_a_long_pile_of_accents_is_cut() -> None:
    assert max(len(cluster) for cluster in split_graphemes("a" + "\u0301" * 500)) <= 32


@some
@given(st.text())
def test_splitting_into_graphemes_keeps_all_text(text: str) -> None:
    assert "".join(split_graphemes(text)) == text


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\u200b", "\u3164", "\ufe0f", "\u2800 \u200d", "\xa0"]
)
def test_invisible_text_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["x", "。", "🙂", "\U0001fae8", "_"])
def test_visible_text_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@some
@given(marked)
def test_clean_text_has_no_control_characters_and_can_be_sent(text: str) -> None:
    cleaned = clean(text)
    assert not {letter for letter in cleaned if letter < " "} - {"\n", "\t"}
    cleaned.encode("utf-8")
    assert clean(cleaned) == cleaned


@some
@given(st.text(), st.integers(2, 40))
def test_shortened_text_is_within_the_limit(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert utf16_length(short) <= limit
    assert short == text or short.endswith("…")
