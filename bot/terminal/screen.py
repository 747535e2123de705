"""Terminal output: coloured if the terminal allows it, and without control characters."""

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

_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Stop writing. Rich would end the program."""
        self.quiet = True


class Screen:
    """Writes to `out`. Colours respect NO_COLOR and TERM=dumb. A pipe gets plain text."""

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
        """Whether the reader of the output is gone, for example a program in a pipe that ended."""
        return self._console.quiet

    def write(self, text: str, style: str = "") -> None:
        """Write text after the last text."""
        self.clear_notice()
        clean = remove_controls(text)
        if clean:
            self._put(clean, style)
            self._at_start = clean.endswith("\n")

    def line(self, text: str = "", style: str = "") -> None:
        """Write a separate line."""
        self.end_line()
        self.write(f"{text}\n", style)

    def end_line(self) -> None:
        """Start a new line if the last text did not end with a line break."""
        self.clear_notice()
        if not self._at_start:
            self.write("\n")

    def notice(self, text: str) -> None:
        """Show a temporary notice. Write it to terminals only."""
        self.end_line()
        if self._out.isatty():
            self._notice = remove_controls(text)
            self._put(self._notice, QUIET)

    def clear_notice(self) -> None:
        """Remove the notice."""
        if self._notice:
            width = cell_len(self._notice)
            self._notice = ""
            try:
                self._out.write("\r" + " " * width + "\r")  # rich drops carriage returns
                self._out.flush()
            except BrokenPipeError:
                self._console.on_broken_pipe()

    def _put(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style), end="")


def remove_controls(text: str) -> str:
    """Return the text without characters that control a terminal, except line breaks and tabs."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in lines if char in "\n\t" or not _is_control(char))


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs") or char in _BIDI_CONTROLS
