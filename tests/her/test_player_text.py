"""Text that people type becomes beats."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.her.beats import PublicBeat
from bot.her.player_text import is_out_of_character, parse_player_text


def format_beats(text: str) -> str:
    return " | ".join(f"{beat.kind[0]} {beat.text}" for beat in parse_player_text(text))


@pytest.mark.parametrize(
    ("text", "beats"),
    [
        ("Hello.", "s Hello."),
        ("*sighs* Hello. _waves_", "a sighs | s Hello. | a waves"),
        ("Hello *waves* there", "s Hello | a waves | s there"),
        ("*smiles* *bows*", "a smiles, bows"),
        ("*sits down,\nslowly*", "a sits down,\nslowly"),
        ("*smiles **broadly** at him*", "a smiles broadly at him"),
        ("**bold** __under__ ***both***", "s **bold** __under__ ***both***"),
        ("2 * 3 * 4 and 2*3*4", "s 2 * 3 * 4 and 2*3*4"),
        ("snake_case_name and a_b", "s snake_case_name and a_b"),
        ("`*code*` and ``*a`b*``", "s `*code*` and ``*a`b*``"),
        ("```\n*code*\n```", "s ```\n*code*\n```"),
        (r"\*not\* this", r"s \*not\* this"),
        ("I *never* said so", "s I *never* said so"),
        ("* a list\n* of two", "s * a list\n* of two"),
        ("*open", "s *open"),
        ("*_* and ^_^", "s *_* and ^_^"),
        ("你好*挥手*再见", "s 你好 | a 挥手 | s 再见"),
        ("<role_thinking>I lie</role_thinking>", "s <role_thinking>I lie</role_thinking>"),
        ("Bob: hi", "s Bob: hi"),
        ("  ", ""),
        ("[Elizabeth enters the study] Good day.", "a Elizabeth enters the study | s Good day."),
        ("(curtsies)", "a curtsies"),
        ("(curtsies) Good day. （微笑）", "a curtsies | s Good day. | a 微笑"),
        ("Good day (curtsies)", "s Good day | a curtsies"),
        ("I am, sir (as you know), a lady.", "s I am, sir (as you know), a lady."),
        ("f(x), a[0], [1], :( no :)", "s f(x), a[0], [1], :( no :)"),
        ("See [this](https://example.org).", "s See [this](https://example.org)."),
        ("Hello ((brb)) sir", "s Hello sir"),
        ("Hello. ((a\nb)) Bye. （（稍等））", "s Hello. Bye."),
        ("`((x))` and `[y]`", "s `((x))` and `[y]`"),
    ],
)
def test_asterisks_and_underscores_mark_actions(text: str, beats: str) -> None:
    assert format_beats(text) == beats


@pytest.mark.parametrize(
    ("text", "beats"),
    [
        ("[A clock strikes twelve.]", "a [A clock strikes twelve.]"),
        (
            "Hush!\n[A clock strikes twelve.]\n*listens*",
            "s Hush! | a [A clock strikes twelve.] | a listens",
        ),
        ("[Elizabeth enters the study]", "a Elizabeth enters the study"),
        ("[elizabeth bennet enters.]", "a elizabeth bennet enters."),
        ("【雨停了。】", "a [雨停了。]"),
        ("[x]", "s [x]"),
    ],
)
def test_a_bracketed_line_is_an_event_unless_it_names_the_speaker(text: str, beats: str) -> None:
    parsed = parse_player_text(text, "Elizabeth Bennet")
    assert " | ".join(f"{beat.kind[0]} {beat.text}" for beat in parsed) == beats


@given(st.text(max_size=80).filter(lambda text: "((" not in text and "（（" not in text))
@settings(max_examples=100, deadline=None)
def test_everything_a_person_types_is_public_and_kept(text: str) -> None:
    beats = parse_player_text(text)
    assert all(isinstance(beat, PublicBeat) for beat in beats)
    letters = [char for beat in beats for char in beat.text if char.isalnum()]
    assert letters == [char for char in text if char.isalnum()]


@pytest.mark.parametrize(
    "text",
    [
        "((brb))",
        "((brb\nback soon))",
        "(((hm)))",
        "((brb",
        "（（稍等））",
        "// brb",
        "//brb\n// two",
        "((a))\n// b",
        "OOC: hi",
        "ooc： hi",
        "(ooc) hi",
        "[OOC] hi\nmore",
        "(ooc: hi)",
    ],
)
def test_out_of_character_lines_are_recognised(text: str) -> None:
    assert is_out_of_character(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hello.",
        "https://example.org",
        "see //x",
        "((a)) hello ((b))",
        "((a)) hello",
        "(aside)",
        "// brb\nHello.",
        "",
        "oochie",
    ],
)
def test_other_lines_are_in_character(text: str) -> None:
    assert not is_out_of_character(text)
