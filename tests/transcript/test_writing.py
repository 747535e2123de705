"""Transcript files of different formats and sizes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from PIL import Image

from bot.her.beats import speech, thought
from bot.scenes.turn import TurnKind
from bot.transcript.format_name import FormatName
from bot.transcript.markdown_format import escape_markdown
from bot.transcript.transcript_content import Reader, TranscriptCharacter
from bot.transcript.writing import TranscriptFile, write_transcript
from tests.transcript.stories import HEADER, STORY, STRANGER, make_turn, read_turns

GM = Reader(STRANGER, has_thoughts=True)
HOSTILE = (
    '<script>alert(1)</script></div><img src="https://example.org/x.png" onerror=alert(1)>'
    "\n# Heading\n- list\n1. one\n[link](https://example.org) ![](https://example.org/y.png) & &lt;"
)


async def write(
    name: FormatName, *, reader: Reader = GM, max_bytes: int | None = None
) -> list[TranscriptFile]:
    written = write_transcript(read_turns(), HEADER, reader, name, max_bytes=max_bytes)
    return [file async for file in written]


async def test_json_holds_each_turn_with_its_beats() -> None:
    (file,) = await write(FormatName.JSON)
    story = json.loads(file.content)
    assert file.name == "transcript.json"
    assert (story["title"], story["characters"]) == (
        "The <Study>",
        ["Mr Bennet", "Elizabeth Bennet"],
    )
    assert [turn["id"] for turn in story["turns"]] == [1, 2, 3, 4]
    assert [beat["kind"] for beat in story["turns"][1]["beats"]] == [
        "planning",
        "thought",
        "action",
        "speech",
    ]


async def test_markdown_quotes_thoughts_below_the_words() -> None:
    (file,) = await write(FormatName.MARKDOWN)
    text = file.content.decode()
    assert text.startswith("# The \\<Study\\>\n")
    assert "**Mr Bennet** *lays down his book* I did, child.\n" in text
    assert "\n> Thought: She does not know yet.\n" in text


async def test_html_folds_thoughts_and_shows_none_without_permission() -> None:
    (with_thoughts,) = await write(FormatName.HTML)
    (without,) = await write(FormatName.HTML, reader=Reader(STRANGER))
    assert b"<details><summary>Thought</summary>She does not know yet.</details>" in (
        with_thoughts.content
    )
    assert b"She does not know yet." not in without.content
    assert b"He should tease her." not in without.content
    assert b"<details><summary>Thought</summary>Revealed to all.</details>" in without.content


@pytest.mark.parametrize("name", list(FormatName))
async def test_a_long_story_needs_several_complete_files(name: FormatName) -> None:
    (whole,) = await write(name)
    limit = len(whole.content) - 100
    parts = await write(name, max_bytes=limit)
    assert [part.name for part in parts[:2]] == [f"transcript.{name}", f"transcript-2.{name}"]
    assert all(len(part.content) <= limit for part in parts)
    assert sum(part.turns for part in parts) == whole.turns
    if name is FormatName.JSON:
        assert [json.loads(part.content)["part"] for part in parts] == [1, 2]
    if name is FormatName.HTML:
        assert all(part.content.endswith(b"</html>\n") for part in parts)


async def test_a_story_without_a_turn_for_the_reader_gives_no_file() -> None:
    written = write_transcript(read_turns(STORY[4:5]), HEADER, GM, FormatName.HTML)
    assert [file async for file in written] == []


async def test_hostile_text_is_neither_a_tag_nor_an_address_in_html() -> None:
    turn = make_turn(1, TurnKind.REPLY, HOSTILE, thought(HOSTILE), speech(HOSTILE))
    header = replace(HEADER, title=HOSTILE, setting=HOSTILE, language='"><script>')
    written = write_transcript(read_turns([turn]), header, GM, FormatName.HTML)
    (file,) = [each async for each in written]
    page = file.content.decode()
    assert "<script" not in page
    assert "<img" not in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?http|url\(["']?http""", page)


async def test_a_face_is_small_and_inside_the_page_and_web_addresses_are_not_loaded() -> None:
    picture = BytesIO()
    Image.new("RGB", (512, 512), "navy").save(picture, "PNG")
    characters = (
        TranscriptCharacter("Mr Bennet", picture.getvalue()),
        TranscriptCharacter("Elizabeth Bennet", "https://example.org/face.png"),
    )
    header = replace(HEADER, characters=characters)
    written = write_transcript(read_turns(), header, GM, FormatName.HTML)
    (file,) = [each async for each in written]
    page = file.content.decode()
    assert page.count("data:image/png;base64,") == 1
    assert 'class="face face-0"' in page
    assert "example.org" not in page


@given(st.text(max_size=80))
def test_escaped_markdown_reads_as_the_same_text(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"Name {escape_markdown(text)}")
    kinds = {token.type for token in tokens}
    assert kinds <= {"paragraph_open", "inline", "paragraph_close"}
    inline = {child.type for token in tokens for child in token.children or ()}
    assert inline <= {"text", "softbreak", "hardbreak", "text_special"}


def test_list_markers_and_rules_stay_text_in_markdown() -> None:
    for text in ("a\n- b", "a\n1. b", "a\n2) b", "a\n***", "a\n---", "a\n===", "a\n+ b", "a\n~~~"):
        kinds = {token.type for token in MarkdownIt("commonmark").parse(escape_markdown(text))}
        assert kinds == {"paragraph_open", "inline", "paragraph_close"}, text
