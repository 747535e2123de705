"""Escapes text so that Discord shows it as it is written and notifies no one.

Discord searches for spoiler bars before it reads backslashes, so bars are also separated by a
zero-width space. A backslash inside an address would become part of it, so addresses are
percent-encoded instead.
"""

from __future__ import annotations

import re

from bot.library.normalise import is_blank
from bot.posting.graphemes import ZERO_WIDTH_SPACE, clean

_PING = re.compile(r"@(?=everyone|here)", re.IGNORECASE)
_TOKEN = re.compile(r"<(?=@[!&]?\d|#\d|t:-?\d|/[^<>]*:\d|id:\w)")
_SPECIAL = str.maketrans(
    {**{mark: f"\\{mark}" for mark in "\\*_~`["}, "|": f"\\|{ZERO_WIDTH_SPACE}"}
)
_ADDRESS = re.compile(r"(https?://[^\s<]+)")
_IN_ADDRESS = str.maketrans({"|": f"|{ZERO_WIDTH_SPACE}", "*": "%2A", "`": "%60", "\\": "%5C"})
_LINE_START = re.compile(r"^([ \t]*)(?:(#{1,3}|-#|>>>|[>+-])|(\d+)\.)(?=\s|$)", re.MULTILINE)
_COMMAND = re.compile(r"(`(?:/|aside )[a-z]+(?: [a-z]+)*`)")
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
UNNAMED = "Someone"
"""The replacement for a name without visible characters."""


def disable_mentions(text: str) -> str:
    """Return text without mentions of everyone, users, roles, channels, commands and times.

    It looks the same, and its other markdown still works.
    """
    return _TOKEN.sub(f"<{ZERO_WIDTH_SPACE}", _PING.sub(f"@{ZERO_WIDTH_SPACE}", text))


def separate_bars(text: str) -> str:
    """Return text in which no two bars touch, so that they form no spoiler. It looks the same."""
    return re.sub(r"\|(?=\|)", f"|{ZERO_WIDTH_SPACE}", text)


def escape_text(text: str) -> str:
    """Return text that Discord shows exactly as it is written.

    It contains no formatting and no mentions, and can't end the formatting around it.
    """
    pieces = _ADDRESS.split(clean(text))
    pieces[::2] = (piece.translate(_SPECIAL) for piece in pieces[::2])
    pieces[1::2] = (address.translate(_IN_ADDRESS) for address in pieces[1::2])
    return disable_mentions(_LINE_START.sub(_escape_line_start, "".join(pieces)))


def format_sentence(text: str) -> str:
    """Escape a sentence of Aside's own, but keep the commands in it formatted as code."""
    pieces = _COMMAND.split(text)
    pieces[::2] = map(escape_text, pieces[::2])
    return "".join(pieces)


def escape_name(text: str) -> str:
    """Return a person's or character's name escaped and on one line.

    Return UNNAMED if no character of it is visible.
    """
    one_line = " ".join(_BIDI.sub("", clean(text)).split())
    return UNNAMED if is_blank(one_line) else escape_text(one_line)


def _escape_line_start(match: re.Match[str]) -> str:
    indent, mark, number = match.groups()
    return f"{indent}\\{mark}" if mark else f"{indent}{number}\\."
