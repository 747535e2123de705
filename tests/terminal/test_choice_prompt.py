"""Choosing from a list."""

from __future__ import annotations

from io import StringIO

import pytest

from bot.errors import NameNotFound, UserInputError
from bot.terminal.choice_prompt import ChoicePrompt, InputEnded
from bot.terminal.keyboard import Keyboard
from bot.terminal.screen import Screen


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def named(name: str) -> str:
    if name.lower() in ("emma", "1984"):
        return name.lower()
    raise NameNotFound(f"Nothing is called {name}.")


LISTED = [("Emma, by Jane Austen", "emma"), ("Persuasion", "persuasion")]


def chosen(typed: str, given: str | None = None) -> tuple[str, str]:
    out = Terminal()
    chooser = ChoicePrompt(Keyboard(Terminal(typed), out), Screen(out, {"NO_COLOR": "1"}))
    return chooser.one("Which?", "--which", LISTED, named, given), out.getvalue()


def test_a_list_is_shown_and_a_number_name_or_nothing_chosen() -> None:
    assert chosen("2\n")[0] == "persuasion"
    assert chosen("EMMA\n")[0] == "emma"
    assert chosen("\n")[0] == "emma"
    assert "  2  Persuasion\n" in chosen("1\n")[1]


def test_what_is_nothing_is_complained_about_and_asked_again() -> None:
    found, shown = chosen("7\nWaverley\n2\n")
    assert found == "persuasion"
    assert "Nothing is called 7." in shown
    assert "Nothing is called Waverley." in shown


def test_what_was_given_is_not_asked_for() -> None:
    assert chosen("", given="2") == ("persuasion", "")
    assert chosen("", given="1984") == ("1984", "")
    with pytest.raises(NameNotFound):
        chosen("", given="0")


def test_where_nothing_more_is_typed_nothing_is_chosen() -> None:
    with pytest.raises(InputEnded):
        chosen("Waverley\n")


def test_a_pipe_can_not_be_asked_unless_there_is_no_choice() -> None:
    chooser = ChoicePrompt(Keyboard(StringIO("1\n"), StringIO()), Screen(StringIO()))
    with pytest.raises(UserInputError, match="--which"):
        chooser.one("Which?", "--which", LISTED, named, None)
    assert chooser.one("Which?", "--which", LISTED[:1], named, None) == "emma"
