"""Splits formatted text into messages that Discord accepts.

The text is a sequence of runs, each with its markup (italics, a spoiler, a code block). Markup that
is open at a cut is closed there and opened again in the next message. The lengths include that.
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
"""The length that Discord allows for a message, in UTF-16 units to be safe."""

_SENTENCE_END = re.compile(r"[.!?…。！？]$")
_SENTENCE_END_UNSPACED = re.compile(r"[。！？]$")
_PAUSE_UNSPACED = re.compile(r"[、，；：/–—-]$")
_CLOSING = "\"'”’»)]*_|~」』"
_PIECE = re.compile(r"\n|[^\S\n]+|\S+")
_LONG_WORD = 20
_LINE_START = re.compile(r"(?:#{1,3}|-#|>>>|[>*+-]|\d+\.)\s")


@dataclass(frozen=True, slots=True)
class Markup:
    """The characters around a run. In a `verbatim` one, a code block, spaces are kept."""

    opener: str
    closer: str
    verbatim: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class FormattedRun:
    """Escaped text with the same markup throughout, the outermost first."""

    text: str
    marks: tuple[Markup, ...] = ()

    def __repr__(self) -> str:
        return f"FormattedRun({len(self.text)} characters, {self.marks})"


class _Break(IntEnum):
    """How suitable a place is for a cut. Higher is better."""

    NONE = 0
    WORD = 1
    SENTENCE = 2
    LINE = 3
    PARAGRAPH = 4


def split_into_messages(runs: Iterable[FormattedRun], limit: int = MESSAGE_LIMIT) -> list[str]:
    """Return the messages for these runs, in order.

    Each has at most `limit` UTF-16 units and visible text. A cut is made at the best place in the
    second half of a message: between paragraphs, lines, sentences or words. A word is cut only if
    it is longer than a message, and then between whole characters.
    """
    cells = [FormattedRun(text, run.marks) for run in runs for text in _split_cells(run.text)]
    messages = []
    at = _find_start(cells, 0)
    while at < len(cells):
        end = _find_end(cells, at, limit)
        cut = end if end == len(cells) else _find_cut(cells, at, end)
        piece = _trim(cells[at:cut])
        if not is_blank("".join(cell.text for cell in piece)):
            messages.append(_guard_line_start(cells, at, "".join(_write(piece))))
        at = _find_start(cells, cut)
    return messages


def _split_cells(text: str) -> Iterator[str]:
    """Yield the pieces that are never cut: spaces, short ASCII words, and other characters."""
    for piece in _PIECE.findall(text):
        if len(piece) <= _LONG_WORD and piece.isascii():
            yield piece
        else:
            yield from split_graphemes(piece)


def _find_start(cells: Sequence[FormattedRun], at: int) -> int:
    """Return the index of the next message's first cell.

    Spaces before it are dropped, except in a code block.
    """
    while at < len(cells) and cells[at].text.isspace() and not _is_verbatim(cells[at]):
        at += 1
    return at


def _find_end(cells: Sequence[FormattedRun], start: int, limit: int) -> int:
    """Return the end of the cells that fit into one message.

    Spaces at the end don't count, because they are dropped.
    """
    room = limit - 1  # for a zero-width space at the start
    opened: tuple[Markup, ...] = ()
    closing = 0
    for at in range(start, len(cells)):
        cell = cells[at]
        if cell.marks is not opened:
            room -= utf16_length(_switch_markup(opened, cell.marks))
            opened = cell.marks
            closing = utf16_length(_switch_markup(cell.marks, ()))
        room -= utf16_length(cell.text)
        if room < closing and not _is_droppable(cell) and at > start:
            return at
    return len(cells)


def _find_cut(cells: Sequence[FormattedRun], start: int, end: int) -> int:
    """Return the best place for a cut after `start` and not after `end`."""
    best: dict[_Break, int] = {}
    for at in range(end, start, -1):
        best.setdefault(_rate_cut(cells, at), at)
    half = start + (end - start) // 2
    for good in (_Break.PARAGRAPH, _Break.LINE, _Break.SENTENCE):
        if best.get(good, start) > half:
            return best[good]
    return max((at for quality, at in best.items() if quality is not _Break.NONE), default=end)


def _rate_cut(cells: Sequence[FormattedRun], at: int) -> _Break:
    """Return how suitable the place between a cell and the one before it is for a cut."""
    before = cells[at - 1].text
    if before == "\n":
        return _Break.PARAGRAPH if at > 1 and cells[at - 2].text == "\n" else _Break.LINE
    if before.isspace():
        return _Break.SENTENCE if _SENTENCE_END.search(_text_before(cells, at - 1)) else _Break.WORD
    if _SENTENCE_END_UNSPACED.search(before) and not (
        at < len(cells) and cells[at].text in _CLOSING
    ):
        return _Break.SENTENCE
    return _Break.WORD if _PAUSE_UNSPACED.search(before) else _Break.NONE


def _text_before(cells: Sequence[FormattedRun], at: int) -> str:
    """Return the text just before a cell, without quotation marks and the like."""
    return "".join(cell.text for cell in cells[max(0, at - 4) : at]).rstrip(_CLOSING)


def _trim(piece: Sequence[FormattedRun]) -> Sequence[FormattedRun]:
    end = len(piece)
    while end and _is_droppable(piece[end - 1]):
        end -= 1
    return piece[:end]


def _write(piece: Sequence[FormattedRun]) -> Iterator[str]:
    opened: tuple[Markup, ...] = ()
    for cell in piece:
        if cell.marks is not opened:
            yield _switch_markup(opened, cell.marks)
            opened = cell.marks
        yield cell.text
    yield _switch_markup(opened, ())


def _switch_markup(opened: tuple[Markup, ...], wanted: tuple[Markup, ...]) -> str:
    """Return the characters that close and open markup between two cells."""
    if opened is wanted or opened == wanted:
        return ""
    shared = 0
    while shared < min(len(opened), len(wanted)) and opened[shared] == wanted[shared]:
        shared += 1
    closers = (mark.closer for mark in reversed(opened[shared:]))
    return "".join((*closers, *(mark.opener for mark in wanted[shared:])))


def _guard_line_start(cells: Sequence[FormattedRun], start: int, message: str) -> str:
    """Keep Discord from reading the middle of a line as a heading or list.

    This can happen if a message starts with it.
    """
    before = start
    while before and cells[before - 1].text.isspace():
        before -= 1
    within_line = before > 0 and all(cell.text != "\n" for cell in cells[before:start])
    return ZERO_WIDTH_SPACE + message if within_line and _LINE_START.match(message) else message


def _is_droppable(cell: FormattedRun) -> bool:
    return cell.text == "\n" if _is_verbatim(cell) else cell.text.isspace()


def _is_verbatim(cell: FormattedRun) -> bool:
    return any(mark.verbatim for mark in cell.marks)
