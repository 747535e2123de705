"""Replace closed standard streams, and accept characters that a stream can't encode."""

from __future__ import annotations

import codecs
import os
import sys
from io import TextIOWrapper
from typing import Final, TextIO

_STREAMS: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}
_HANDLER: Final = "aside-plain"
_PLAIN: Final = {
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "…": "...", "–": "-", "—": "-", "→": "->",
    "←": "<-", "✓": "+", "✗": "x", "·": ".", "•": "*", "×": "x", "≤": "<=", "≥": ">=",
}  # fmt: skip


def prepare_streams() -> None:
    """Make the standard streams safe to use. Call this before anything is printed or opened."""
    replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        accept_any_character(stream)
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")


def replace_closed_streams() -> None:
    """Open the null device for every standard stream that is closed.

    Call this before opening any file. Otherwise a database could get the closed stream's number,
    and messages of a C library would be written into it.
    """
    for name, mode in _STREAMS.items():
        if getattr(sys, name) is None:  # Python's sign for a closed stream
            null = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(null, True)
            setattr(sys, name, os.fdopen(null, mode, encoding="utf-8", errors="replace"))


def accept_any_character(stream: TextIO) -> None:
    """Write similar plain characters if the encoding of `stream` lacks one, instead of failing.

    A console may not be UTF-8, and a file name may have bytes that are not valid text.
    """
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors=_HANDLER)


def _replace_with_plain_characters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in text), error.end


codecs.register_error(_HANDLER, _replace_with_plain_characters)
