"""Splitting formatted text into messages, so that no message is too long and each is whole in itself.

Text comes as runs, each with the marks that stand around it (italics, a spoiler, a fence). A mark that is open at a
cut is closed there and opened again in the next message, and what that takes is counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from bot.library.normalise import is_blank
from bot.posting.graphemes import ZERO_WIDTH_SPACE, split_graphemes, utf16_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MESSAGE_LIMIT = 2_000
"""How wide a message may be."""

_SENTENCE_END = re.compile(r"[.!?…。！？]$")
_SENTENCE_END_UNSPACED = re.compile(r"[。！？]$")
_PAUSE_UNSPACED = re.compile(r"[、，；：/–—-]$")
_CLOSING = "\"'”’»)]*_|~」』"
_PIECE = re.compile(r"\n|[^\S\n]+|\S+")
_LONG_WORD = 20
_LINE_START = re.compile(r"(?:#{1,3}|-#|>>>|[>*+-]|\d+\.)\s")


@dataclass(frozen=True, slots=True)
class Markup:
    """What stands around a run. In a `verbatim` one, a fence, spaces count."""

    opener: str
    closer: str
    verbatim: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class FormattedRun:
    """Text, escaped already, under the same marks throughout, the outermost first."""

    text: str
    marks: tuple[Markup, ...] = ()

    def __repr__(self) -> str:
        return f"Run({len(self.text)} characters, {self.marks})"


class _Break(IntEnum):
    """How good a place is for a cut."""

    NONE = 0
    WORD = 1
    SENTENCE = 2
    LINE = 3
    PARAGRAPH = 4


def split_into_messages(runs: Iterable[FormattedRun], limit: int = MESSAGE_LIMIT) -> list[str]:
    """Return the messages that these runs make, in order: none wider than `limit`, none blank.

    Cuts are made between paragraphs, lines, sentences or words, the best of these in the second half of a message;
    within a word only where it is longer than a message, and then between whole letters.
    """
    cells = [FormattedRun(text, run.marks) for run in runs for text in _cells(run.text)]
    messages = []
    at = _content(cells, 0)
    while at < len(cells):
        end = _reach(cells, at, limit)
        cut = end if end == len(cells) else _cut(cells, at, end)
        piece = _trimmed(cells[at:cut])
        if not is_blank("".join(cell.text for cell in piece)):
            messages.append(_guard(cells, at, "".join(_written(piece))))
        at = _content(cells, cut)
    return messages


def _cells(text: str) -> Iterator[str]:
    """Cut text into what is never cut further: spaces, short plain words, and the letters of all others."""
    for piece in _PIECE.findall(text):
        if len(piece) <= _LONG_WORD and piece.isascii():
            yield piece
        else:
            yield from split_graphemes(piece)


def _content(cells: Sequence[FormattedRun], at: int) -> int:
    """Return where the next message's text begins: spaces at its head are dropped, except inside a fence."""
    while at < len(cells) and cells[at].text.isspace() and not _verbatim(cells[at]):
        at += 1
    return at


def _reach(cells: Sequence[FormattedRun], start: int, limit: int) -> int:
    """Return the end of what fits into one message. Spaces at the end cost nothing, since they are dropped."""
    room = limit - 1  # a guard may stand at the head
    opened: tuple[Markup, ...] = ()
    closing = 0
    for at in range(start, len(cells)):
        cell = cells[at]
        if cell.marks is not opened:
            room -= utf16_length(_turn(opened, cell.marks))
            opened, closing = cell.marks, utf16_length(_turn(cell.marks, ()))
        room -= utf16_length(cell.text)
        if room < closing and not _droppable(cell) and at > start:
            return at
    return len(cells)


def _cut(cells: Sequence[FormattedRun], start: int, end: int) -> int:
    """Return the best place for a cut after `start` and not after `end`."""
    best: dict[_Break, int] = {}
    for at in range(end, start, -1):
        best.setdefault(_quality(cells, at), at)
    half = start + (end - start) // 2
    for good in (_Break.PARAGRAPH, _Break.LINE, _Break.SENTENCE):
        if best.get(good, start) > half:
            return best[good]
    return max((at for quality, at in best.items() if quality is not _Break.NONE), default=end)


def _quality(cells: Sequence[FormattedRun], at: int) -> _Break:
    """Return how good it is to cut between a cell and the one before it."""
    before = cells[at - 1].text
    if before == "\n":
        return _Break.PARAGRAPH if at > 1 and cells[at - 2].text == "\n" else _Break.LINE
    if before.isspace():
        return (
            _Break.SENTENCE if _SENTENCE_END.search(_words_before(cells, at - 1)) else _Break.WORD
        )
    if _SENTENCE_END_UNSPACED.search(before) and not (
        at < len(cells) and cells[at].text in _CLOSING
    ):
        return _Break.SENTENCE
    return _Break.WORD if _PAUSE_UNSPACED.search(before) else _Break.NONE


def _words_before(cells: Sequence[FormattedRun], at: int) -> str:
    """Return the end of what stands before a cell, without quotation marks and the like."""
    return "".join(cell.text for cell in cells[max(0, at - 4) : at]).rstrip(_CLOSING)


def _trimmed(piece: Sequence[FormattedRun]) -> Sequence[FormattedRun]:
    end = len(piece)
    while end and _droppable(piece[end - 1]):
        end -= 1
    return piece[:end]


def _written(piece: Sequence[FormattedRun]) -> Iterator[str]:
    opened: tuple[Markup, ...] = ()
    for cell in piece:
        if cell.marks is not opened:
            yield _turn(opened, cell.marks)
            opened = cell.marks
        yield cell.text
    yield _turn(opened, ())


def _turn(opened: tuple[Markup, ...], wanted: tuple[Markup, ...]) -> str:
    """Return what closes and opens marks between two cells."""
    if opened is wanted or opened == wanted:
        return ""
    shared = 0
    while shared < min(len(opened), len(wanted)) and opened[shared] == wanted[shared]:
        shared += 1
    closers = (mark.closer for mark in reversed(opened[shared:]))
    return "".join((*closers, *(mark.opener for mark in wanted[shared:])))


def _guard(cells: Sequence[FormattedRun], start: int, message: str) -> str:
    """Keep the middle of a line from being read as the start of one, such as a heading, where a message begins
    with it."""
    before = start
    while before and cells[before - 1].text.isspace():
        before -= 1
    within_line = before > 0 and all(cell.text != "\n" for cell in cells[before:start])
    return ZERO_WIDTH_SPACE + message if within_line and _LINE_START.match(message) else message


def _droppable(cell: FormattedRun) -> bool:
    return cell.text == "\n" if _verbatim(cell) else cell.text.isspace()


def _verbatim(cell: FormattedRun) -> bool:
    return any(mark.verbatim for mark in cell.marks)
