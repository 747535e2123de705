"""Lines from a pipe and completion with Tab."""

from __future__ import annotations

from io import StringIO

import pytest

from bot.terminal.keyboard import Keyboard, complete_word

WORDS = ["help", "history", "@Mr Bennet", "@Mrs Bennet", "@Elizabeth Bennet"]


def test_a_pipe_returns_its_lines() -> None:
    keyboard = Keyboard(StringIO("one\n\ntwo"), StringIO())
    assert not keyboard.interactive
    assert [keyboard.ask("> ") for _ in range(4)] == ["one", "", "two", None]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("h", ["help ", "history "]),
        ("HI", ["history "]),
        ("@mrs", ["@Mrs Bennet "]),
        ("@ben", ["@Mr Bennet ", "@Mrs Bennet ", "@Elizabeth Bennet "]),
        ("@", ["@Mr Bennet ", "@Mrs Bennet ", "@Elizabeth Bennet "]),
        ("x", []),
        ("", []),
    ],
)
def test_tab_completes_words(typed: str, found: list[str]) -> None:
    offered = [complete_word(typed, WORDS, number) for number in range(len(found) + 1)]
    assert offered == [*found, None]
