"""Split streamed plain text into speech and `*actions*`.

A mark is `*`, and for people's text also `_`.

- A mark opens an action if it does not follow a letter or digit and if no space or mark follows it.
- A mark closes an action if it does not follow a space and if no letter or digit follows it.
- An action holds at least one letter or digit, at most 600 characters and no blank line.

These stay speech: doubled marks (`**bold**`, `__underline__`), escaped marks, marks in code, and a
single word stressed within a sentence (`I *never* did`, but not `I *shrugs* know`).
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
    """Splits a stream of text into speech and actions.

    It holds back text whose kind depends on an unfinished mark or code span.
    """

    def __init__(self, marks: str = "*") -> None:
        self._special = re.compile(f"[`\\\\{re.escape(marks)}]")
        self._pending = ""
        self._before = ""  # the two characters before `_pending`

    @property
    def pending(self) -> str:
        """The text that was fed and not returned yet."""
        return self._pending

    def feed(self, text: str) -> list[Piece]:
        """Take a piece of the stream and return the pieces that are certain now."""
        self._pending += text
        return self._advance(final=False)

    def close(self) -> list[Piece]:
        """End the stream and return the remaining pieces."""
        return self._advance(final=True)

    def _advance(self, *, final: bool) -> list[Piece]:
        pieces: list[Piece] = []
        while special := self._special.search(self._pending):
            self._emit(pieces, special.start())
            length, is_action = self._measure(final=final)
            if not length:
                return pieces
            if is_action:
                pieces.append((BeatKind.ACTION, self._pending[1 : length - 1].replace("*", "")))
                self._skip(length)
            else:
                self._emit(pieces, length)
        self._emit(pieces, len(self._pending))
        return pieces

    def _emit(self, pieces: list[Piece], length: int) -> None:
        if length:
            pieces.append((BeatKind.SPEECH, self._pending[:length]))
            self._skip(length)

    def _skip(self, length: int) -> None:
        self._before = (self._before + self._pending[:length])[-2:]
        self._pending = self._pending[length:]

    def _measure(self, *, final: bool) -> tuple[int, bool]:
        """Measure the construct at the start of `_pending`. The second item is True for an action.

        The length is 0 if more text is needed to decide.
        """
        mark = self._pending[0]
        if mark == "\\":
            return (min(2, len(self._pending)) if final or len(self._pending) > 1 else 0), False
        run = len(self._pending) - len(self._pending.lstrip(mark))
        if run == len(self._pending):
            return (run if final else 0), False
        if mark == "`":
            return _measure_code(self._pending, run, final=final), False
        if run > 1:
            return _measure_doubled(self._pending, mark, run, final=final), False
        if (
            _is_word_char(self._before[-1:])
            or self._pending[1].isspace()
            or self._pending[1] in "*_"
        ):
            return 1, False
        length, is_action = _measure_action(self._pending, mark, final=final)
        return length, is_action and not (
            _is_mid_sentence(self._before) and _is_stressed(self._pending[1 : length - 1])
        )


def _measure_code(text: str, run: int, *, final: bool) -> int:
    """Return the length of the code that `run` backticks open, or `run` if they stay unclosed."""
    end = run + _LONGEST_CODE if run > 2 else _find_line_end(text)
    closing = re.compile(f"(?<!`)`{{{run}}}(?!`)").search(text, run, end)
    if closing and (final or closing.end() < len(text)):
        return closing.end()
    return run if final or end < len(text) else 0


def _measure_doubled(text: str, mark: str, run: int, *, final: bool) -> int:
    """Return the length of the text that `run` marks enclose, or `run` if they stay unclosed."""
    end, ended = _find_paragraph_end(text)
    closing = text.find(mark * run, run, end)
    if closing > 0:
        return closing + run
    return run if final or ended else 0


def _measure_action(text: str, mark: str, *, final: bool) -> tuple[int, bool]:
    """Return the length of the action that one mark opens, or 1 if the mark is plain text."""
    end, ended = _find_paragraph_end(text)
    for match in re.compile(f"{re.escape(mark)}+").finditer(text, 1, end):
        if match.end() == len(text) and not final:
            return 0, False
        if len(match.group()) > 1:
            continue
        closes = not text[match.start() - 1].isspace() and not _is_word_char(
            text[match.end() : match.end() + 1]
        )
        if closes and any(map(str.isalnum, text[1 : match.start()])):
            return match.end(), True
        return 1, False
    return (1 if final or ended else 0), False


def _find_paragraph_end(text: str) -> tuple[int, bool]:
    """Return the last position for a closing mark. The second item: the text reaches it."""
    blank = _BLANK_LINE.search(text, 0, _LONGEST_ACTION)
    if blank:
        return blank.start(), True
    return min(len(text), _LONGEST_ACTION), len(text) > _LONGEST_ACTION


def _find_line_end(text: str) -> int:
    end = text.find("\n", 0, _LONGEST_CODE)
    return min(_LONGEST_CODE, len(text)) if end < 0 else end


def _is_mid_sentence(before: str) -> bool:
    """Whether a sentence continues after these two characters."""
    return len(before) == 2 and before[1] == " " and (_is_word_char(before[0]) or before[0] == ",")


def _is_stressed(text: str) -> bool:
    """Whether this is one word, and not a verb such as `shrugs` or `smiling`."""
    return bool(_STRESSED.fullmatch(text)) and not text.casefold().endswith(("s", "ing"))


def _is_word_char(char: str) -> bool:
    """Whether a mark next to `char` is inside a word.

    Scripts without spaces between words never count.
    """
    return char.isalnum() and char < "\u2e80"
