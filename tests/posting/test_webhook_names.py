"""Names of webhooks change only if Discord rejects them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.library.normalise import is_blank
from bot.posting.graphemes import utf16_length
from bot.posting.webhook_names import MAX_NAME_LENGTH, assign_webhook_names, format_webhook_name
from tests.posting.hostile_texts import some

FINE = [
    *(
        "Mr Bennet",
        "everyone",
        "here",
        "Disco Rd",
        "clide",
        "Élizabeth O’Neill-Smith",
        "贾宝玉",
        "محمد",
        "👩‍🚀 Ada",
        "x",
    ),
    *("@home", "C lyde", "diſcord", "a" * 80),
]


@pytest.mark.parametrize("name", FINE)
def test_a_name_that_discord_accepts_is_kept(name: str) -> None:
    assert format_webhook_name(name) == name


@pytest.mark.parametrize(
    "name", ["Clyde", "CLYDE", "Clydesdale", "my Discord friend", "dIsCoRd", "clydediscord"]
)
def test_a_name_that_discord_rejects_gets_a_hair_space(name: str) -> None:
    made = format_webhook_name(name)
    assert made.replace("\u200a", "") == name
    assert "clyde" not in made.lower()
    assert "discord" not in made.lower()


@pytest.mark.parametrize("name", ["", "   ", "\u200b", "\x00\n", "\u202e"])
def test_a_name_without_visible_characters_becomes_someone(name: str) -> None:
    assert format_webhook_name(name) == "Someone"


def test_line_breaks_and_direction_marks_are_removed() -> None:
    assert format_webhook_name("  Mr\nBennet\u202e \t x ") == "Mr Bennet x"


def test_invisible_characters_do_not_hide_a_rejected_name() -> None:
    assert format_webhook_name("cl\u200byde") == "c\u200alyde"


@some
@given(st.text() | st.text(alphabet="cClLyYdDeEiIsSoOrR \u200b"))
def test_every_formatted_name_is_one_that_discord_accepts(name: str) -> None:
    made = format_webhook_name(name)
    assert 1 <= len(made) <= utf16_length(made) <= MAX_NAME_LENGTH
    assert made == made.strip()
    assert not is_blank(made)
    assert "clyde" not in made.lower()
    assert "discord" not in made.lower()


@some
@given(st.lists(st.text(max_size=100), max_size=8))
def test_every_character_gets_a_different_name(names: list[str]) -> None:
    given_names = assign_webhook_names(names)
    assert given_names.keys() == set(names)
    assert len({name.casefold() for name in given_names.values()}) == len(set(names))
    assert all(utf16_length(name) <= MAX_NAME_LENGTH for name in given_names.values())


def test_names_that_look_alike_are_numbered() -> None:
    assert assign_webhook_names(["Anna", "Anna ", "anna\u200b"]) == {
        "Anna": "Anna",
        "Anna ": "Anna (2)",
        "anna\u200b": "anna (3)",
    }
