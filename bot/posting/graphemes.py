"""Measures text as Discord counts it and splits it into the characters that people see."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ZERO_WIDTH_SPACE = "\u200b"
"""An invisible character that separates characters with a meaning for Discord side by side."""

_MAX_CLUSTER_LENGTH = 32  # code points; a longer pile of combining marks may be cut
_ZWJ = "\u200d"
_JOINS_LEFT = re.compile("[\u1160-\u11ff\u200b-\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_REGIONAL = re.compile("[\U0001f1e6-\U0001f1ff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 code units.

    It is never less than the length in code points, so text within a limit by this count is within
    it by either.
    """
    return len(text) if text.isascii() else len(text) + sum(letter > "\uffff" for letter in text)


def clean(text: str) -> str:
    """Return text with `\\n` as line ends, without control characters and lone surrogates."""
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", _LINE_ENDS.sub("\n", text)))


def split_graphemes(text: str) -> Iterator[str]:
    """Yield the pieces of text that must not be cut.

    Such a piece is a letter with its accents, an emoji with its parts, a flag, or a backslash with
    the character it escapes.
    """
    start = 0
    for at in range(1, len(text)):
        if not _belongs(text, start, at):
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def shorten(text: str, limit: int) -> str:
    """Return text cut to `limit` UTF-16 units. Text that was cut ends with an ellipsis."""
    if utf16_length(text) <= limit:
        return text
    kept = []
    room = limit - 1
    for cluster in split_graphemes(text):
        if (room := room - utf16_length(cluster)) < 0:
            break
        kept.append(cluster)
    return "".join(kept).rstrip() + "…"


def _belongs(text: str, start: int, at: int) -> bool:
    """Return whether the letter at `at` belongs to the cluster that starts at `start`."""
    letter = text[at]
    before = text[at - 1]
    if letter <= "\x7f":
        return before == "\\" and at - start == 1 and not letter.isalnum() and not letter.isspace()
    if before == "\n" or at - start >= _MAX_CLUSTER_LENGTH:
        return False
    if _REGIONAL.match(letter):
        return bool(_REGIONAL.match(before)) and (at - start) % 2 == 1
    return (
        before == _ZWJ or bool(_JOINS_LEFT.match(letter)) or unicodedata.category(letter)[0] == "M"
    )
