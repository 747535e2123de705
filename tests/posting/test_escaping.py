"""Text that Discord shows as it is written, without mentions."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from bot.posting.escaping import (
    UNNAMED,
    disable_mentions,
    escape_name,
    escape_text,
    format_sentence,
)
from bot.posting.graphemes import clean, utf16_length
from tests.posting.hostile_texts import marked, some
from tests.posting.markdown_reader import BLOCK, everything, kinds

MENTIONS = [
    *(
        "@everyone",
        "@here",
        "@Everyone",
        "<@1>",
        "<@!1>",
        "<@&1>",
        "<#1>",
        "<t:0>",
        "<t:0:R>",
        "</scene start:1>",
    ),
    *("<id:customize>", "<id:home>"),
]


@pytest.mark.parametrize("mention", MENTIONS)
@pytest.mark.parametrize("harmless", [escape_text, disable_mentions, escape_name])
def test_mentions_are_disabled_and_look_the_same(mention: str, harmless: object) -> None:
    written = harmless(f"so {mention}, hm")  # type: ignore[operator]
    assert mention not in written
    assert "mention" not in kinds(written)
    assert everything(written) == f"so {mention}, hm"


def unescaped(text: str) -> str:
    """Return text with the percent-encoding in its addresses undone."""
    return text.replace("%2A", "*").replace("%60", "`").replace("%5C", "\\")


@some
@given(marked)
@example("<https://a.example)>*")
@example("](https://a.example)\\")
def test_escaped_text_has_no_formatting_and_reads_the_same(text: str) -> None:
    written = escape_text(text)
    assert kinds(written) == set()
    assert unescaped(everything(written)) == unescaped(clean(text).replace("\u200b", ""))
    assert not any(BLOCK.match(line) for line in written.split("\n"))


@some
@given(marked)
def test_escaped_text_never_ends_the_spoiler_around_it(text: str) -> None:
    assert "||" not in escape_text(text)
    assert not escape_text(text).endswith("|")


def test_bars_in_an_address_are_separated_without_a_backslash() -> None:
    written = escape_text("see https://a.example/x_y||z")
    assert "||" not in written
    assert "\\" not in written


def test_special_characters_in_an_address_are_percent_encoded() -> None:
    assert kinds(f"*{escape_text('goes to https://a.example/x*y`z')}*") == {"italics"}
    assert escape_text("https://a.example/x*y`z") == "https://a.example/x%2Ay%60z"


@pytest.mark.parametrize(
    "nickname", ["||Dark||", "__x__", "**Bold**", "# Head", "> q", "`c`", "1. One", "[a](b)"]
)
def test_formatting_in_a_nickname_has_no_effect(nickname: str) -> None:
    written = escape_name(nickname)
    assert kinds(f"**{written}** speaks") == {"bold"}
    assert everything(f"**{written}** speaks") == f"{nickname} speaks"


def test_a_line_break_in_a_nickname_does_not_forge_a_second_line() -> None:
    assert escape_name("Lizzy\n\r\n**Darcy** yes") == "Lizzy \\*\\*Darcy\\*\\* yes"


def test_a_nickname_does_not_change_the_writing_direction() -> None:
    assert escape_name("\u202eevil\u202c") == "evil"


@pytest.mark.parametrize("nothing", ["", "  ", "\u200b\u200d", "\u3164", "\x00"])
def test_a_person_without_a_visible_name_is_called_someone(nothing: str) -> None:
    assert escape_name(nothing) == UNNAMED


def test_escaping_makes_text_at_most_three_times_as_long() -> None:
    assert utf16_length(escape_text("|*_`" * 100)) <= 3 * 400


def test_commands_in_a_sentence_stay_formatted_as_code() -> None:
    written = format_sentence(
        "*Bob*`x` is off stage: `/cast enter` helps, or `aside run`. @everyone `/a||b`"
    )
    assert written.startswith("\\*Bob\\*\\`x\\` is off stage: `/cast enter` helps, or `aside run`.")
    assert "@everyone" not in written
    assert "||" not in written
