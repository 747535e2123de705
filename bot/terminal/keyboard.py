"""Lines from the keyboard, with editing and history at a terminal, or from a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

try:
    import readline
except ImportError:  # Python can be built without readline; the terminal then edits lines itself
    readline = None  # type: ignore[assignment]


class Keyboard:
    """Reads lines from `typed`. The history stays in memory and is never written to a file."""

    def __init__(self, typed: TextIO, screen: TextIO) -> None:
        self._typed = typed
        self.interactive = typed.isatty() and screen.isatty()
        """Whether a person can answer questions."""

    def ask(self, prompt: str) -> str | None:
        """Return the next line, if any is left. Ctrl-C raises KeyboardInterrupt."""
        if self.interactive and self._typed is sys.stdin:
            try:
                return input(prompt)
            except EOFError:
                return None
        line = self._typed.readline()
        return line.removesuffix("\n") if line else None

    def begin(self, words: Sequence[str]) -> None:
        """Clear the history, and let Tab complete these words from now on."""
        if readline is None or not self.interactive:
            return
        readline.clear_history()
        readline.set_completer_delims(" \t\n")
        readline.set_completer(lambda typed, number: complete_word(typed, words, number))
        readline.parse_and_bind(
            "bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete"
        )


def complete_word(typed: str, words: Sequence[str], number: int) -> str | None:
    """Return the `number`-th word that begins with `typed`, if there is one.

    `@Ben` matches the beginning of any part of a name.
    """
    matches = [word for word in words if _begins(typed.casefold(), word.casefold())]
    return f"{matches[number]} " if typed and number < len(matches) else None


def _begins(typed: str, word: str) -> bool:
    if typed.startswith("@") and word.startswith("@"):
        return any(part.startswith(typed[1:]) for part in (word[1:], *word[1:].split()))
    return word.startswith(typed)
