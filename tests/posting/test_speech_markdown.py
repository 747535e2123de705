"""A character's speech keeps what formatting is whole."""

from __future__ import annotations

import time

import pytest
from hypothesis import given

from bot.posting.graphemes import clean
from bot.posting.speech_markdown import parse_speech
from bot.posting.split import split_into_messages
from tests.posting.hostile_texts import bare, marked, some
from tests.posting.markdown_reader import BLOCK, everything, kinds, of, read, walk


def said(text: str) -> str:
    return "".join(split_into_messages(parse_speech(text)))


@pytest.mark.parametrize(
    "text",
    [
        "I said **no**, and I *mean* it.",
        "***Never***, __never__, ~~ever~~.",
        "**very *nested* indeed**",
        "`one` and ``two``",
        "- a list\n- of things",
        "> a quotation",
        "my_dear_sister, 5 o'clock~",
        "see https://a.example/a_b_c",
        "```py\nprint(1)\n```\nand on",
        "¯\\_(ツ)\\_/¯",
        "a\\*b",
    ],
)
def test_ordinary_markdown_stays_as_it_is(text: str) -> None:
    assert said(text) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("*sighs", "\\*sighs"),
        ("2 *3 and *yes*", "2 \\*3 and *yes*"),
        ("**no", "\\*\\*no"),
        ("a ` tick", "a \\` tick"),
        ("__init", "\\_\\_init"),
        ("*over\n\nparagraphs*", "\\*over\n\nparagraphs\\*"),
        ("end\\", "end\\\\"),
        ("inline ```never closed", "inline \\`\\`\\`never closed"),
    ],
)
def test_what_is_opened_and_never_closed_is_text(text: str, written: str) -> None:
    assert said(text) == written


def test_a_fence_that_the_reply_never_closed_is_closed() -> None:
    assert said("Look:\n```py\nprint(1)") == "Look:\n```py\nprint(1)\n```"


@pytest.mark.parametrize("start", ["# ", "### ", "-# ", ">>> "])
def test_headings_small_print_and_endless_quotations_are_text(start: str) -> None:
    written = said(f"{start}hear me")
    assert not BLOCK.match(written)
    assert everything(written) == f"{start}hear me"


def test_speech_makes_no_spoiler() -> None:
    assert "spoiler" not in kinds(said("it is ||secret||, `a||b||c`, \\||x||"))


@pytest.mark.parametrize(
    "hostile", ["`", "``", "*", "_ ", "~~", "```", "</", "\n", "\\", "[", "https://"]
)
def test_no_speech_takes_long_to_read(hostile: str) -> None:
    began = time.process_time()
    said(hostile + "x y " * 2500 + hostile * 2500)
    assert time.process_time() - began < 2


@some
@given(marked)
def test_speech_mentions_nobody_hides_nothing_and_loses_no_word(text: str) -> None:
    messages = split_into_messages(parse_speech(text))
    assert not {"mention", "spoiler"} & {kind for message in messages for kind in kinds(message)}
    languages = "py"  # a fence's language is no word
    assert bare("".join(messages)).replace(languages, "") == bare(clean(text)).replace(
        languages, ""
    )


@some
@given(marked)
def test_nothing_stays_open_behind_speech(text: str) -> None:
    for message in split_into_messages(parse_speech(text)):
        followed = read(f"{message}\n||hidden|| *done*")
        assert [node.kind for node in walk(followed) if node.kind == "spoiler"] == ["spoiler"]
        assert of(f"{message}\n||hidden|| *done*", "italics")[-1:] == ["done"]
