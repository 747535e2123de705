"""Choices from a list."""

from __future__ import annotations

from io import StringIO

import pytest

from bot.errors import NameNotFound, UserInputError
from bot.terminal.choice_prompt import ChoicePrompt, InputEnded
from bot.terminal.keyboard import Keyboard
from bot.terminal.screen import Screen


class InteractiveTerminal(StringIO):
    def isatty(self) -> bool:
        return True


def named(name: str) -> str:
    if name.lower() in ("emma", "1984"):
        return name.lower()
    raise NameNotFound(f"Nothing is called {name}.")


LISTED = [("Emma, by Jane Austen", "emma"), ("Persuasion", "persuasion")]


def chosen(typed: str, given: str | None = None) -> tuple[str, str]:
    out = InteractiveTerminal()
    chooser = ChoicePrompt(
        Keyboard(InteractiveTerminal(typed), out), Screen(out, {"NO_COLOR": "1"})
    )
    return chooser.choose("Which?", "--which", LISTED, named, given), out.getvalue()


def test_an_option_is_chosen_by_number_name_or_enter() -> None:
    assert chosen("1\n")[0] == "persuasion"
    assert chosen("0\n")[0] == "emma"
    assert chosen("EMMA\n")[0] == "emma"
    assert chosen("\n")[0] == "emma"
    assert "  0  Emma, by Jane Austen\n  1  Persuasion\n" in chosen("1\n")[1]


def test_an_invalid_answer_gets_an_error_and_another_question() -> None:
    found, shown = chosen("7\nWaverley\n1\n")
    assert found == "persuasion"
    assert "Nothing is called 7." in shown
    assert "Nothing is called Waverley." in shown


def test_an_answer_from_the_command_line_is_used() -> None:
    assert chosen("", given="1") == ("persuasion", "")
    assert chosen("", given="0") == ("emma", "")
    assert chosen("", given="1984") == ("1984", "")
    with pytest.raises(NameNotFound):
        chosen("", given="2")


def test_the_end_of_the_input_ends_the_question() -> None:
    with pytest.raises(InputEnded):
        chosen("Waverley\n")


def test_a_pipe_is_refused_unless_there_is_only_one_option() -> None:
    chooser = ChoicePrompt(Keyboard(StringIO("1\n"), StringIO()), Screen(StringIO()))
    with pytest.raises(UserInputError, match="--which"):
        chooser.choose("Which?", "--which", LISTED, named, None)
    assert chooser.choose("Which?", "--which", LISTED[:1], named, None) == "emma"
