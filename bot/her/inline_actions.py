"""Plain text into speech and `*actions*`, as it streams.

A mark (`*`, for people `_` too) begins an action where no letter or digit stands before it and no space or mark after
it, and ends it where no space stands before and no letter or digit after. Between them is no blank line, at least one
letter or digit, and at most 600 characters. Doubled marks (`**bold**`, `__underline__`), escaped ones, whatever stands
in code, and a single word stressed in the middle of a sentence (`I *never* did`, but not `I *shrugs* know`) stay text.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from bot.her.beats import BeatKind, PublicKind

Piece: TypeAlias = tuple[PublicKind, str]

_LONGEST_ACTION = 600
_LONGEST_CODE = 4000
_STRESSED = re.compile(r"[^\W\d_\u2e80-\U0010ffff]+(?:['’-]\w+)?")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


class InlineActionParser:
    """Splits a stream of text. Holds back what an unfinished mark or code span may still change."""

    def __init__(self, marks: str = "*") -> None:
        self._special = re.compile(f"[`\\\\{re.escape(marks)}]")
        self._held = ""
        self._before = ""  # the two characters before what is held

    @property
    def held(self) -> str:
        """What was fed and not given out yet."""
        return self._held

    def feed(self, text: str) -> list[Piece]:
        """Take a piece of the stream and return the pieces that are certain now."""
        self._held += text
        return self._advance(final=False)

    def close(self) -> list[Piece]:
        """Return the rest of the pieces: the text has ended."""
        return self._advance(final=True)

    def _advance(self, *, final: bool) -> list[Piece]:
        pieces: list[Piece] = []
        while special := self._special.search(self._held):
            self._give(pieces, special.start())
            length, is_action = self._measure(final=final)
            if not length:
                return pieces
            if is_action:
                pieces.append((BeatKind.ACTION, self._held[1 : length - 1].replace("*", "")))
                self._skip(length)
            else:
                self._give(pieces, length)
        self._give(pieces, len(self._held))
        return pieces

    def _give(self, pieces: list[Piece], length: int) -> None:
        if length:
            pieces.append((BeatKind.SPEECH, self._held[:length]))
            self._skip(length)

    def _skip(self, length: int) -> None:
        self._before = (self._before + self._held[:length])[-2:]
        self._held = self._held[length:]

    def _measure(self, *, final: bool) -> tuple[int, bool]:
        """Return how long the construct is that `held` begins with, 0 if undecided, and whether it is an action."""
        mark = self._held[0]
        if mark == "\\":
            return (min(2, len(self._held)) if final or len(self._held) > 1 else 0), False
        run = len(self._held) - len(self._held.lstrip(mark))
        if run == len(self._held):
            return (run if final else 0), False
        if mark == "`":
            return _code(self._held, run, final=final), False
        if run > 1:
            return _doubled(self._held, mark, run, final=final), False
        if _word(self._before[-1:]) or self._held[1].isspace() or self._held[1] in "*_":
            return 1, False
        length, is_action = _action(self._held, mark, final=final)
        return length, is_action and not (
            _goes_on(self._before) and _is_stressed(self._held[1 : length - 1])
        )


def _code(text: str, run: int, *, final: bool) -> int:
    """Length of the code span or fence that `run` backticks begin; `run` itself where nothing closes them."""
    end = run + _LONGEST_CODE if run > 2 else _line_end(text)
    closing = re.compile(f"(?<!`)`{{{run}}}(?!`)").search(text, run, end)
    if closing and (final or closing.end() < len(text)):
        return closing.end()
    return run if final or end < len(text) else 0


def _doubled(text: str, mark: str, run: int, *, final: bool) -> int:
    """Length of the bold or underlined text that `run` marks begin; `run` itself where nothing closes them."""
    end, ended = _paragraph_end(text)
    closing = text.find(mark * run, run, end)
    if closing > 0:
        return closing + run
    return run if final or ended else 0


def _action(text: str, mark: str, *, final: bool) -> tuple[int, bool]:
    """Length of the action that one mark begins; 1 where it is none."""
    end, ended = _paragraph_end(text)
    for match in re.compile(f"{re.escape(mark)}+").finditer(text, 1, end):
        if match.end() == len(text) and not final:
            return 0, False
        if len(match.group()) > 1:
            continue
        closes = not text[match.start() - 1].isspace() and not _word(
            text[match.end() : match.end() + 1]
        )
        if closes and any(map(str.isalnum, text[1 : match.start()])):
            return match.end(), True
        return 1, False
    return (1 if final or ended else 0), False


def _paragraph_end(text: str) -> tuple[int, bool]:
    """Up to where a mark may be closed, and whether that end has been seen."""
    blank = _BLANK_LINE.search(text, 0, _LONGEST_ACTION)
    if blank:
        return blank.start(), True
    return min(len(text), _LONGEST_ACTION), len(text) > _LONGEST_ACTION


def _line_end(text: str) -> int:
    end = text.find("\n", 0, _LONGEST_CODE)
    return min(_LONGEST_CODE, len(text)) if end < 0 else end


def _goes_on(before: str) -> bool:
    """Whether a sentence is in its middle after these two characters."""
    return len(before) == 2 and before[1] == " " and (_word(before[0]) or before[0] == ",")


def _is_stressed(text: str) -> bool:
    """Whether this is one word, and none in which one says what one does."""
    return bool(_STRESSED.fullmatch(text)) and not text.casefold().endswith(("s", "ing"))


def _word(char: str) -> bool:
    """Whether a mark beside this letter or digit stands inside a word; scripts without spaces have no inside."""
    return char.isalnum() and char < "\u2e80"
