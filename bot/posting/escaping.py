"""Escaping: text that shows as it is, whatever Discord would make of it, and never reaches for anybody.

Discord looks for bars in the raw text, where a backslash protects nothing: they are kept apart by a space of no
width as well. In addresses a backslash would be part of the address: they are escaped in their own way.
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
_ADDRESS = re.compile(r"(https?://[^\s<\\]+)")
_IN_ADDRESS = str.maketrans({"|": f"|{ZERO_WIDTH_SPACE}", "*": "%2A", "`": "%60"})
_LINE_START = re.compile(r"^([ \t]*)(?:(#{1,3}|-#|>>>|[>+-])|(\d+)\.)(?=\s|$)", re.MULTILINE)
_COMMAND = re.compile(r"(`(?:/|aside )[a-z]+(?: [a-z]+)*`)")
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
UNNAMED = "Someone"
"""What a person or character is called whose name has nothing to see in it."""


def disable_mentions(text: str) -> str:
    """Return text that mentions nobody and nothing: no everyone, user, role, channel, command or time. It looks the
    same, and its other markdown still works."""
    return _TOKEN.sub(f"<{ZERO_WIDTH_SPACE}", _PING.sub(f"@{ZERO_WIDTH_SPACE}", text))


def separate_bars(text: str) -> str:
    """Return text in which no two bars touch, so that none begins or ends a spoiler. It looks the same."""
    return re.sub(r"\|(?=\|)", f"|{ZERO_WIDTH_SPACE}", text)


def escape_text(text: str) -> str:
    """Return text that shows exactly as it is: nothing in it formats, mentions, or ends what it stands in."""
    pieces = _ADDRESS.split(clean(text))
    pieces[::2] = (piece.translate(_SPECIAL) for piece in pieces[::2])
    pieces[1::2] = (address.translate(_IN_ADDRESS) for address in pieces[1::2])
    return disable_mentions(_LINE_START.sub(_escaped_start, "".join(pieces)))


def format_sentence(text: str) -> str:
    """Return a sentence of our own as `escape_text` text, with the commands it names as Discord shows code."""
    pieces = _COMMAND.split(text)
    pieces[::2] = map(escape_text, pieces[::2])
    return "".join(pieces)


def escape_name(text: str) -> str:
    """Return a person's or character's name as `escape_text` text on a single line, or NOBODY where none can be seen."""
    one_line = " ".join(_BIDI.sub("", clean(text)).split())
    return UNNAMED if is_blank(one_line) else escape_text(one_line)


def _escaped_start(found: re.Match[str]) -> str:
    indent, mark, number = found.groups()
    return f"{indent}\\{mark}" if mark else f"{indent}{number}\\."
