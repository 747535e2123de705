"""The screen: text in colour at a terminal that wants it, plain text anywhere else, and never a control character."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

NAME: Final = "bold cyan"
ACTION: Final = "italic"
PRIVATE: Final = "dim magenta"
QUIET: Final = "dim"
FAULT: Final = "yellow"

_TURNS_TEXT_ROUND = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Fall silent, where rich would end the program."""
        self.quiet = True


class Screen:
    """Writes to `out`. Colours respect NO_COLOR and TERM=dumb; what is no terminal gets text alone."""

    def __init__(self, out: TextIO, environ: Mapping[str, str] = os.environ) -> None:
        self._out = out
        plain = bool(environ.get("NO_COLOR")) or not out.isatty()
        self._console = _Console(
            file=out,
            color_system=None if plain else "auto",
            highlight=False,
            soft_wrap=True,
            markup=False,
            emoji=False,
        )
        self._notice = ""
        self._at_start = True

    @property
    def gone(self) -> bool:
        """Whether nobody reads any more, as when output is piped into a program that has ended."""
        return self._console.quiet

    def write(self, text: str, style: str = "") -> None:
        """Write text where the last one ended."""
        self.calm()
        shown = remove_controls(text)
        if shown:
            self._put(shown, style)
            self._at_start = shown.endswith("\n")

    def line(self, text: str = "", style: str = "") -> None:
        """Write a line of its own."""
        self.end_line()
        self.write(f"{text}\n", style)

    def end_line(self) -> None:
        """Go to the beginning of a line, unless the last text ended there."""
        self.calm()
        if not self._at_start:
            self.write("\n")

    def notice(self, text: str) -> None:
        """Show for a while that something is being done; what is no terminal is spared it."""
        self.end_line()
        if self._out.isatty():
            self._notice = remove_controls(text)
            self._put(self._notice, QUIET)

    def calm(self) -> None:
        """Take the notice away."""
        if self._notice:
            width, self._notice = cell_len(self._notice), ""
            try:
                self._out.write(
                    "\r" + " " * width + "\r"
                )  # rich would leave the carriage returns out
                self._out.flush()
            except BrokenPipeError:
                self._console.on_broken_pipe()

    def _put(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style), end="")


def remove_controls(text: str) -> str:
    """Return text without what a terminal would obey rather than show; line breaks and tabs stay."""
    broken = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in broken if char in "\n\t" or not _is_obeyed(char))


def _is_obeyed(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs") or char in _TURNS_TEXT_ROUND
