"""Commands and spoken lines."""

from __future__ import annotations

import pytest

from bot.errors import NameNotFound
from bot.terminal.typed_commands import Command, parse_command

NAMES = ("mr bennet", "papa")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("quit", Command("quit")),
        ("  Q ", Command("q")),
        ("/quit now", Command("quit", "now")),
        ("thoughts ON", Command("thoughts", "ON")),
        ("prompt Mr. Bennet", Command("prompt", "Mr. Bennet")),
        ("retry papa", Command("retry", "papa")),
        ("save story.md", Command("save", "story.md")),
        ("save ~/story", Command("save", "~/story")),
        ("/save my story", Command("save", "my story")),
        ("/ help", Command("help")),
    ],
)
def test_a_line_that_reads_as_a_command_is_one(line: str, command: Command) -> None:
    assert parse_command(line, NAMES) == command


@pytest.mark.parametrize(
    "line",
    [
        "quit this house, sir",
        "Help me!",
        "help!",
        "thoughts are free",
        "prompt and proper",
        "retry it",
        "save me.",
        "save me, Papa!",
        "save him!",
        "history repeats itself",
        "// tea is ready",
        "",
    ],
)
def test_a_line_that_reads_as_speech_is_said(line: str) -> None:
    assert parse_command(line, NAMES) is None


def test_a_slash_with_an_unknown_command_is_an_error() -> None:
    with pytest.raises(NameNotFound, match="history"):
        parse_command("/histroy", NAMES)
    with pytest.raises(NameNotFound, match="help, cast"):
        parse_command("/", NAMES)
