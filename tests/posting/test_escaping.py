"""Text that shows as it is, and reaches for nobody."""

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
def test_nothing_is_mentioned_and_it_looks_the_same(mention: str, harmless: object) -> None:
    written = harmless(f"so {mention}, hm")  # type: ignore[operator]
    assert mention not in written
    assert "mention" not in kinds(written)
    assert everything(written) == f"so {mention}, hm"


def unescaped(text: str) -> str:
    """Return text with the marks in its addresses as they were."""
    return text.replace("%2A", "*").replace("%60", "`").replace("%5C", "\\")


@some
@given(marked)
@example("<https://a.example)>*")
@example("](https://a.example)\\")
def test_literal_text_has_no_format_and_reads_as_it_was_written(text: str) -> None:
    written = escape_text(text)
    assert kinds(written) == set()
    assert unescaped(everything(written)) == unescaped(clean(text).replace("\u200b", ""))
    assert not any(BLOCK.match(line) for line in written.split("\n"))


@some
@given(marked)
def test_literal_text_never_ends_a_spoiler_around_it(text: str) -> None:
    assert "||" not in escape_text(text)
    assert not escape_text(text).endswith("|")


def test_bars_within_an_address_do_not_touch_and_it_stays_an_address() -> None:
    written = escape_text("see https://a.example/x_y||z")
    assert "||" not in written
    assert "\\" not in written


def test_an_address_ends_no_italics_and_still_leads_there() -> None:
    assert kinds(f"*{escape_text('goes to https://a.example/x*y`z')}*") == {"italics"}
    assert escape_text("https://a.example/x*y`z") == "https://a.example/x%2Ay%60z"


@pytest.mark.parametrize(
    "nickname", ["||Dark||", "__x__", "**Bold**", "# Head", "> q", "`c`", "1. One", "[a](b)"]
)
def test_a_nickname_formats_nothing(nickname: str) -> None:
    written = escape_name(nickname)
    assert kinds(f"**{written}** speaks") == {"bold"}
    assert everything(f"**{written}** speaks") == f"{nickname} speaks"


def test_a_line_break_in_a_nickname_forges_no_second_line() -> None:
    assert escape_name("Lizzy\n\r\n**Darcy** yes") == "Lizzy \\*\\*Darcy\\*\\* yes"


def test_a_nickname_does_not_turn_the_writing_around() -> None:
    assert escape_name("\u202eevil\u202c") == "evil"


@pytest.mark.parametrize("nothing", ["", "  ", "\u200b\u200d", "\u3164", "\x00"])
def test_who_has_no_visible_name_is_called_someone(nothing: str) -> None:
    assert escape_name(nothing) == UNNAMED


def test_a_message_of_marks_grows_by_no_more_than_three() -> None:
    assert utf16_length(escape_text("|*_`" * 100)) <= 3 * 400


def test_a_sentence_of_ours_names_its_commands_as_such_and_shows_the_rest_as_it_is() -> None:
    written = format_sentence(
        "*Bob*`x` is off stage: `/cast enter` helps, or `aside run`. @everyone `/a||b`"
    )
    assert written.startswith("\\*Bob\\*\\`x\\` is off stage: `/cast enter` helps, or `aside run`.")
    assert "@everyone" not in written
    assert "||" not in written
