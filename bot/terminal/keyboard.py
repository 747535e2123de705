"""The keyboard: one line after the other, with editing and a history at a terminal, or plainly from a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

try:
    import readline
except (
    ImportError
):  # where Python was built without it, lines are edited as the terminal itself allows
    readline = None  # type: ignore[assignment]


class Keyboard:
    """Reads lines from `typed`. What was typed is remembered until the program ends, and written nowhere."""

    def __init__(self, typed: TextIO, screen: TextIO) -> None:
        self._typed = typed
        self.interactive = typed.isatty() and screen.isatty()
        """Whether somebody sits there who can be asked."""

    def ask(self, prompt: str) -> str | None:
        """Return the next line; None where there are no more. Ctrl-C raises KeyboardInterrupt."""
        if self.interactive and self._typed is sys.stdin:
            try:
                return input(prompt)
            except EOFError:
                return None
        line = self._typed.readline()
        return line.removesuffix("\n") if line else None

    def begin(self, words: Sequence[str]) -> None:
        """Forget what was typed so far, and complete these words from now on where Tab is pressed."""
        if readline is None or not self.interactive:
            return
        readline.clear_history()
        readline.set_completer_delims(" \t\n")
        readline.set_completer(lambda typed, number: complete_word(typed, words, number))
        readline.parse_and_bind(
            "bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete"
        )


def complete_word(typed: str, words: Sequence[str], number: int) -> str | None:
    """Return the so-and-so-many-th of the words that begin as what was typed; `@Ben` may begin any word of a name."""
    found = [word for word in words if _begins(typed.casefold(), word.casefold())]
    return f"{found[number]} " if typed and number < len(found) else None


def _begins(typed: str, word: str) -> bool:
    if typed.startswith("@") and word.startswith("@"):
        return any(part.startswith(typed[1:]) for part in (word[1:], *word[1:].split()))
    return word.startswith(typed)
