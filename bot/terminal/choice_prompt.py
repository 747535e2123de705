"""Choices from a numbered list, by number or by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bot.errors import UserInputError
from bot.terminal.screen import FAULT, NAME, QUIET

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.terminal.keyboard import Keyboard
    from bot.terminal.screen import Screen

T = TypeVar("T")


class InputEnded(Exception):
    """The input ended before a choice."""


class ChoicePrompt:
    """Asks on a screen and reads answers from a keyboard."""

    def __init__(self, keyboard: Keyboard, screen: Screen) -> None:
        self._keyboard = keyboard
        self._screen = screen

    def choose(
        self,
        question: str,
        flag: str,
        options: Sequence[tuple[str, T]],
        find: Callable[[str], T],
        given: str | None,
    ) -> T:
        """Return the value that the person chooses.

        `options` are pairs of a label and a value. `find` returns the value for a name, or raises
        UserInputError. `given` is an answer from the command line: a number of the list or a name.
        Without it, ask, unless there is only one option. Numbers count from 0, as in the demo of
        HER's authors.

        Raise UserInputError if `given` is invalid or the keyboard is not interactive.
        Raise InputEnded if the input ends.
        """
        if given is not None:
            return _resolve(given, options, find)
        if len(options) == 1:
            return options[0][1]
        if not self._keyboard.interactive:
            raise UserInputError(f"{question} The input is not a terminal. Use {flag}.")
        self._screen.line(question, NAME)
        for number, (label, _) in enumerate(options):
            self._screen.line(f"{number:>3}  {label}")
        while True:
            try:
                return _resolve(self._read(), options, find)
            except UserInputError as error:
                self._screen.line(str(error), FAULT)

    def _read(self) -> str:
        self._screen.write("Type a number or a name, or press Enter for the first. ", QUIET)
        self._screen.end_line()
        typed = self._keyboard.ask("> ")
        if typed is None:
            raise InputEnded
        return typed.strip() or "0"


def _resolve(given: str, options: Sequence[tuple[str, T]], find: Callable[[str], T]) -> T:
    if given.isdecimal() and int(given[:6]) < len(options):
        return options[int(given[:6])][1]
    return find(given)
