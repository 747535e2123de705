"""Text as Discord counts it and people see it: its width, and its letters that must stay whole."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ZERO_WIDTH_SPACE = "\u200b"
"""A space of no width: separates characters that would mean something to Discord side by side, and shows nothing."""

_LONGEST_CLUSTER = 32  # code points; a pile of combining marks beyond it may be cut
_ZWJ = "\u200d"
_JOINS_LEFT = re.compile("[\u1160-\u11ff\u200b-\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_REGIONAL = re.compile("[\U0001f1e6-\U0001f1ff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 units, which is never less than that in code points: a limit kept in one is kept
    in both."""
    return len(text) if text.isascii() else len(text) + sum(letter > "\uffff" for letter in text)


def clean(text: str) -> str:
    """Return text with one kind of line end, and without control characters and halves of characters."""
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", _LINE_ENDS.sub("\n", text)))


def split_graphemes(text: str) -> Iterator[str]:
    """Cut text into what should stay whole: a letter with its accents, an emoji with its parts, a flag, and a
    backslash with the mark it escapes."""
    start = 0
    for at in range(1, len(text)):
        if not _belongs(text, start, at):
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def shorten(text: str, limit: int) -> str:
    """Return text cut to `limit` in width, with an ellipsis where something was left out."""
    if utf16_length(text) <= limit:
        return text
    kept, room = [], limit - 1
    for cluster in split_graphemes(text):
        if (room := room - utf16_length(cluster)) < 0:
            break
        kept.append(cluster)
    return "".join(kept).rstrip() + "…"


def _belongs(text: str, start: int, at: int) -> bool:
    """Whether the letter there belongs to the cluster that began at `start`."""
    letter, before = text[at], text[at - 1]
    if letter <= "\x7f":
        return before == "\\" and at - start == 1 and not letter.isalnum() and not letter.isspace()
    if before == "\n" or at - start >= _LONGEST_CLUSTER:
        return False
    if _REGIONAL.match(letter):
        return bool(_REGIONAL.match(before)) and (at - start) % 2 == 1
    return (
        before == _ZWJ or bool(_JOINS_LEFT.match(letter)) or unicodedata.category(letter)[0] == "M"
    )
