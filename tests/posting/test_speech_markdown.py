"""The markdown of a character's speech."""

from __future__ import annotations

import time

import pytest
from hypothesis import given

from bot.posting.graphemes import clean
from bot.posting.speech_markdown import parse_speech
from bot.posting.split import split_into_messages
from tests.posting.hostile_texts import bare, marked, some
from tests.posting.markdown_reader import BLOCK, everything, kinds, of, read, walk


def write(text: str) -> str:
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
def test_ordinary_markdown_is_kept(text: str) -> None:
    assert write(text) == text


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
def test_unclosed_markup_is_escaped(text: str, written: str) -> None:
    assert write(text) == written


def test_an_unclosed_code_block_is_closed() -> None:
    assert write("Look:\n```py\nprint(1)") == "Look:\n```py\nprint(1)\n```"


@pytest.mark.parametrize("start", ["# ", "### ", "-# ", ">>> "])
def test_headings_small_print_and_endless_quotations_are_escaped(start: str) -> None:
    written = write(f"{start}hear me")
    assert not BLOCK.match(written)
    assert everything(written) == f"{start}hear me"


def test_speech_contains_no_spoiler() -> None:
    assert "spoiler" not in kinds(write("it is ||secret||, `a||b||c`, \\||x||"))


@pytest.mark.parametrize(
    "hostile", ["`", "``", "*", "_ ", "~~", "```", "</", "\n", "\\", "[", "https://"]
)
def test_parsing_is_fast_for_hostile_speech(hostile: str) -> None:
    began = time.process_time()
    write(hostile + "x y " * 2500 + hostile * 2500)
    assert time.process_time() - began < 2


@some
@given(marked)
def test_speech_has_no_mentions_and_no_spoilers_and_keeps_every_word(text: str) -> None:
    messages = split_into_messages(parse_speech(text))
    assert not {"mention", "spoiler"} & {kind for message in messages for kind in kinds(message)}
    languages = "py"  # the language of a code block is not a word
    assert bare("".join(messages)).replace(languages, "") == bare(clean(text)).replace(
        languages, ""
    )


@some
@given(marked)
def test_speech_closes_all_its_markup(text: str) -> None:
    for message in split_into_messages(parse_speech(text)):
        followed = read(f"{message}\n||hidden|| *done*")
        assert [node.kind for node in walk(followed) if node.kind == "spoiler"] == ["spoiler"]
        assert of(f"{message}\n||hidden|| *done*", "italics")[-1:] == ["done"]
