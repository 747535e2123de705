"""Choosing from a list: by number or by name, asked for where nobody said it before."""

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
    """The input ended where something had to be chosen."""


class ChoicePrompt:
    """Asks at this keyboard, on this screen."""

    def __init__(self, keyboard: Keyboard, screen: Screen) -> None:
        self._keyboard = keyboard
        self._screen = screen

    def one(
        self,
        question: str,
        option: str,
        listed: Sequence[tuple[str, T]],
        named: Callable[[str], T],
        given: str | None,
    ) -> T:
        """Return the one of `listed` (as shown, and what it stands for) that was `given` by number, or what `named`
        finds for a name; ask where nothing was given and there is a choice.

        Raises UserInputError where nobody can be asked or what was given is nothing, and NothingMoreTyped.
        """
        if given is not None:
            return _found(given, listed, named)
        if len(listed) == 1:
            return listed[0][1]
        if not self._keyboard.interactive:
            raise UserInputError(f"{question} Say it with {option} where nobody can be asked.")
        self._screen.line(question, NAME)
        for number, (shown, _) in enumerate(listed, start=1):
            self._screen.line(f"{number:>3}  {shown}")
        while True:
            try:
                return _found(self._typed(), listed, named)
            except UserInputError as error:
                self._screen.line(str(error), FAULT)

    def _typed(self) -> str:
        self._screen.write("Number or name, or nothing for the first. ", QUIET)
        self._screen.end_line()
        typed = self._keyboard.ask("> ")
        if typed is None:
            raise InputEnded
        return typed.strip() or "1"


def _found(given: str, listed: Sequence[tuple[str, T]], named: Callable[[str], T]) -> T:
    if given.isdecimal() and 1 <= int(given[:6]) <= len(listed):
        return listed[int(given[:6]) - 1][1]
    return named(given)
