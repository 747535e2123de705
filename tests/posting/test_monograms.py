from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from bot.posting.monograms import (
    COLOURS,
    SIDE,
    Monogram,
    assign_monograms,
    draw_monogram,
    find_letter,
)

LIGHT, DARK = "#ffffff", "#313338"  # Discord's pages


def brightness(colour: str) -> float:
    """Return the relative luminance of WCAG."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((brightness(one), brightness(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colour", COLOURS)
def test_letters_are_easy_to_read_and_pictures_stand_out_on_every_page(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 4.5  # of the letter, as WCAG asks for text
    assert contrast(colour, LIGHT) >= 3
    assert contrast(colour, DARK) >= 2


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("Mr Bennet", "B"),
        ("Lady Catherine de Bourgh", "C"),
        ("the king", "K"),
        ("King", "K"),
        ("élodie", "É"),
        ("ßa", "S"),
        ("“Quincy”", "Q"),
        ("7 of 9", "7"),
        ("жанна", "Ж"),
        ("林黛玉", "林"),
        ("🦊", "🦊"),
        ("", "?"),
    ],
)
def test_the_letter_is_the_first_one_after_a_title(name: str, letter: str) -> None:
    assert find_letter(name) == letter


@pytest.mark.parametrize("letter", list("BÉŁΩЖשع林あ한สअ᚛🦊7"))
def test_every_script_has_a_picture_of_its_own(letter: str) -> None:
    one = draw_monogram(Monogram(letter, COLOURS[0]))
    with Image.open(BytesIO(one)) as picture:
        assert picture.size == (SIDE, SIDE)
        small = picture.resize((40, 40), Image.Resampling.LANCZOS).convert("L")
        pixels = small.tobytes()
        assert max(pixels) - min(pixels) > 100  # there is something to see
    assert one == draw_monogram(Monogram(letter, COLOURS[0]))
    assert one != draw_monogram(Monogram("B" if letter != "B" else "C", COLOURS[0]))


@given(st.lists(st.text(min_size=1, max_size=12), max_size=45, unique=True))
def test_no_two_monograms_of_a_cast_are_equal(names: list[str]) -> None:
    monograms = assign_monograms(names)
    same_letter = [
        sum(one.letter == find_letter(name) for one in monograms.values()) for name in names
    ]
    if max(same_letter, default=0) <= len(COLOURS):
        assert len(set(monograms.values())) == len(names)
    first = [monograms[name].colour for name in names[: len(COLOURS)]]
    assert len(set(first)) == len(first)


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=20, unique=True))
def test_a_newcomer_changes_no_other_monogram(names: list[str]) -> None:
    before = assign_monograms(names[:-1])
    after = assign_monograms(names)
    assert before == {name: after[name] for name in names[:-1]}


@given(st.text(min_size=1, max_size=3))
def test_any_name_can_be_drawn(name: str) -> None:
    (monogram,) = assign_monograms([name]).values()
    assert draw_monogram(monogram).startswith(b"\x89PNG")
