"""Text is split into tags and words, in any chunks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.her.tag_scanner import TagScanner, find_tags
from bot.her.tags import Family, Noise, Tag, Token, TurnEnd, Words

FAMILY = {"planning": "P", "thought": "T", "action": "A", "speech": "S", "hidden": "H"}


def scan(text: str, size: int | None = None) -> list[Token]:
    scanner = TagScanner()
    size = size or len(text) or 1
    tokens = [
        token
        for start in range(0, len(text), size)
        for token in scanner.feed(text[start : start + size])
    ]
    return tokens + scanner.close()


def format_tokens(text: str, size: int | None = None) -> str:
    """Return tags as the letters of their families in brackets, and words unchanged."""
    return "".join(map(format_token, scan(text, size)))


def format_token(token: Token) -> str:
    if isinstance(token, Words):
        return token.text
    if isinstance(token, TurnEnd):
        return "[end]"
    if isinstance(token, Noise):
        return ""
    return f"[{'/' * token.closing}{''.join(sorted(FAMILY[family] for family in token.families))}]"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("<role_thinking>x</role_thinking>", "[T]x[/T]"),
        ("<system_thinking>x</system_think>", "[P]x[/P]"),
        ("<think>x</thinking>", "[P]x[/P]"),
        ("<thought>x</Thoughts>", "[T]x[/T]"),
        ("<long_role_thinking>x</inner-monologue>", "[T]x[/T]"),
        ("<role_action>x</ACTION>", "[A]x[/A]"),
        ("<role_speech>x</dialogue>", "[S]x[/S]"),
        ("< role_thinking >x</ role_thinking>y< / role thinking >", "[T]x[/T]y[/T]"),
        ("<rolethinking>x</role__thinking>y</role-thinking>", "[T]x[/T]y[/T]"),
        ("<role_thinking_2>x</role_thinking2>", "[T]x[/T]"),
        ("<role_thinking mood='sad'>x</role_thinking/>y<role_thinking/>", "[T]x[/T]y[T]"),
        ("<role_thinking\n>x</role_thinking\n >", "[T]x[/T]"),
        ("＜role_thinking＞x＜／role_thinking＞", "[T]x[/T]"),
        ("<ｒｏｌｅ_ｔｈｉｎｋｉｎｇ>x‹/role_thinking›", "[T]x[/T]"),
        ("&lt;role_thinking&gt;x&LT;/role_thinking&GT;", "[T]x[/T]"),
        ("<ro\u200ble_thinking>x<\\role_thinking>", "[T]x[/T]"),
        ("[role_thinking]x[/role_thinking]【内心】y", "[T]x[/T][T]y"),
        ("role_thinking>x/role_thinking>", "[T]x[/T]"),
        ("role_thinking: x", "[T] x"),
        ("<|role_thinking|>x<|/role_thinking|>", "[T]x[/T]"),
        ("<role_thinking I wonder", "[T] I wonder"),
        ("x</role_thinking Sir", "x[/T] Sir"),
        ("x</role_thinking\nSir", "x[/T]\nSir"),
        ("x</role_thinking<role_action>", "x[/T][A]"),
        ("<role_feelings>x<system_note>y<role_action_thinking>", "[T]x[P]y[T]"),
        ("<role_thnking>x<thoughs>y<systemthinkng>", "[T]x[T]y[P]"),
        ("<inner_speech>x<secret_action>", "[T]x[T]"),
        ("<角色思考>x</系统思考><动作><台词>", "[T]x[/P][A][S]"),
        ("x<|im_end|>", "x[end]"),
        ("x<|im_end", "x[end]"),
        ("x<|im_start|>", "x[end]"),
    ],
)
def test_tags_are_recognised_in_every_spelling(text: str, tokens: str) -> None:
    assert {format_tokens(text, size) for size in (None, 1, 2, 5)} == {tokens}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("x</role_thin", "x[/T]"),
        ("x</role_thinking", "x[/T]"),
        ("x</role_a", "x[/A]"),
        ("x</role_", "x[/AST]"),
        ("x</", "x[/APST]"),
        ("x</sys", "x[/P]"),
        ("x<role_th", "x[T]"),
        ("x<", "x"),
    ],
)
def test_a_truncated_tag_at_the_end_counts_as_that_tag(text: str, tokens: str) -> None:
    assert {format_tokens(text, size) for size in (None, 1, 3)} == {tokens}


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "a <b> c",
        "1<2>0",
        "<3",
        "x <div class='think'>",
        "</b",
        "[x]",
        "[Robert]",
        "【今天】",
        "{x}",
        "<-",
        "<talks quietly>",
        "<act\n",
        "the role of s",
        "system_",
        "role_thinking is a word",
        "<|",
        "<roles>",
        "-->",
        "&",
    ],
)
def test_other_text_is_words(text: str) -> None:
    assert {format_tokens(f"{text} x", size) for size in (None, 1, 4)} == {f"{text} x"}


def test_planning_by_its_full_name_differs_from_other_thinking() -> None:
    tags = [
        token for token in scan("<system_thinking><System Think><think>") if isinstance(token, Tag)
    ]
    assert [tag.system for tag in tags] == [True, True, False]
    assert all(tag.families == {Family.PLANNING} for tag in tags)


def test_text_is_held_back_only_while_it_may_become_a_tag() -> None:
    scanner = TagScanner()
    assert scanner.feed("Good day, sir. <rol") == [Words("Good day, sir. ")]
    assert scanner.feed("l> ") == [Words("<roll> ")]
    assert scanner.feed("<role_thinking " + "a" * 200)[1:] != []


@given(
    st.text(alphabet="<>/＜&lt;gt;[](){}!-\\|role_thinkg_systemaconh \n=：:x", max_size=60),
    st.integers(1, 7),
)
@settings(max_examples=300, deadline=None)
def test_chunks_do_not_matter_and_words_are_kept(text: str, size: int) -> None:
    assert format_tokens(text, size) == format_tokens(text)
    spans, _ = find_tags(text)
    raw = "".join(token.text if isinstance(token, Words) else token.raw for token in scan(text))
    assert raw == text or (raw == text[:-1] and spans[-1].token == TurnEnd(""))
