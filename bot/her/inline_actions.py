"""Split streamed plain text into speech and `*actions*`.

A mark is `*`, and for people's text also `_`.

- A mark opens an action if it does not follow a letter or digit and if no space or mark follows it.
- A mark closes an action if it does not follow a space and if no letter or digit follows it.
- An action holds at least one letter or digit, at most 600 characters and no blank line.

Bracketed passages are actions in people's text, and thoughts in square brackets in models' text:
they come from CoSER, whose replies read `[thought] (action) speech`. See `Brackets`.

These stay speech: doubled marks (`**bold**`, `__underline__`), escaped marks, marks in code, and a
single word stressed within a sentence (`I *never* did`, but not `I *shrugs* know`).
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TypeAlias

from bot.her.beats import BeatKind
from bot.her.tags import says_thinking

Piece: TypeAlias = tuple[BeatKind, str]


class Brackets(Enum):
    """The meaning of `[…]` and `(…)` in a text."""

    TEXT = auto()  # plain text
    PLAYER = auto()  # actions; round ones only if they don't interrupt a sentence
    MODEL = auto()  # square ones are thoughts; others are if they say so: `(Thinking: …)`


_PAIRS = {"[": "]", "［": "］", "【": "】", "(": ")", "（": "）"}
_SQUARE = frozenset("[［【")
_CLOSED = frozenset("])")
_SAYS_THINKING = re.compile(r"\W*([^\W\d_][\w\s'’-]{0,40}?)\s*[:：]")

_LONGEST_ACTION = 600
_LONGEST_CODE = 4000
_MIN_BRACKETED = 2  # letters
_LONGEST_PARTICLE = 3  # such as `as` and `yes`
_STRESSED = re.compile(r"[^\W\d_\u2e80-\U0010ffff]+(?:['’-]\w+)?")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


class InlineActionParser:
    """Splits a stream of text into speech and actions.

    It holds back text whose kind depends on an unfinished mark or code span.
    """

    def __init__(self, marks: str = "*", brackets: Brackets = Brackets.TEXT) -> None:
        openers = "" if brackets is Brackets.TEXT else "".join(_PAIRS)
        self._special = re.compile(f"[`\\\\{re.escape(marks + openers)}]")
        self._brackets = brackets
        self._rest_is_private = False
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
        while not self._rest_is_private and (special := self._special.search(self._pending)):
            self._emit(pieces, special.start())
            length, kind = self._measure(final=final)
            if not length and not self._rest_is_private:
                return pieces
            if kind is BeatKind.SPEECH:
                self._emit(pieces, length)
            else:
                text = self._pending[1 : length - 1].replace("*", "")
                pieces.append((kind, text))
                self._skip(length)
        if not self._rest_is_private:
            self._emit(pieces, len(self._pending))
        elif final and self._pending:
            pieces.append((BeatKind.THOUGHT, self._pending))
            self._skip(len(self._pending))
        return pieces

    def _emit(self, pieces: list[Piece], length: int) -> None:
        if length:
            pieces.append((BeatKind.SPEECH, self._pending[:length]))
            self._skip(length)

    def _skip(self, length: int) -> None:
        self._before = (self._before + self._pending[:length])[-2:]
        self._pending = self._pending[length:]

    def _measure(self, *, final: bool) -> tuple[int, BeatKind]:
        """Return the length and the kind of the construct at the start of `_pending`.

        The length is 0 if more text is needed to decide.
        """
        mark = self._pending[0]
        if mark in _PAIRS:
            return self._measure_bracket(final=final)
        if mark == "\\":
            is_complete = final or len(self._pending) > 1
            return (min(2, len(self._pending)) if is_complete else 0), BeatKind.SPEECH
        run = len(self._pending) - len(self._pending.lstrip(mark))
        if run == len(self._pending):
            return (run if final else 0), BeatKind.SPEECH
        if mark == "`":
            return _measure_code(self._pending, run, final=final), BeatKind.SPEECH
        if run > 1:
            return _measure_doubled(self._pending, mark, run, final=final), BeatKind.SPEECH
        follows = self._pending[1]
        if _is_word_char(self._before[-1:]) or follows.isspace() or follows in "*_":
            return 1, BeatKind.SPEECH
        length, is_action = _measure_action(self._pending, mark, final=final)
        text = self._pending[1 : length - 1]
        if length == 1 and not is_action and self._says_thinking(self._pending[1:]):
            self._rest_is_private = True
            return 0, BeatKind.SPEECH
        if not is_action or (_is_mid_sentence(self._before) and _is_stressed(text)):
            return length, BeatKind.SPEECH
        if self._says_thinking(text):
            return length, BeatKind.THOUGHT
        return length, BeatKind.ACTION

    def _measure_bracket(self, *, final: bool) -> tuple[int, BeatKind]:
        """Measure the passage in brackets at the start of `_pending`, or the bracket alone."""
        opener = self._pending[0]
        plain = 1, BeatKind.SPEECH
        before = self._before[-1:]
        if _is_word_char(before) or before in _CLOSED or self._pending[1:2].isspace():
            return plain
        end, ended = _find_paragraph_end(self._pending)
        closer = _find_closer(self._pending, end)
        if closer is None:
            if not (final or ended):
                return 0, BeatKind.SPEECH
            if self._says_thinking(self._pending[1:]):
                self._rest_is_private = True
                return 0, BeatKind.SPEECH
            return self._measure_unclosed(end) if opener in _SQUARE else plain
        text, rest = self._pending[1:closer], self._pending[closer + 1 :]
        if not rest and not final:
            return 0, BeatKind.SPEECH
        if sum(map(str.isalpha, text)) < _MIN_BRACKETED or text[-1].isspace() or text[0] == opener:
            return plain
        is_link = rest.startswith(("(", ":", "："))
        if self._brackets is Brackets.MODEL:
            is_thought = self._says_thinking(text) or (opener in _SQUARE and not is_link)
            return (closer + 1, BeatKind.THOUGHT) if is_thought else plain
        if opener in _SQUARE:
            return closer + 1, BeatKind.SPEECH if is_link else BeatKind.ACTION
        interrupts = _is_mid_sentence(self._before) and not _begins_with_verb(text)
        return plain if interrupts else (closer + 1, BeatKind.ACTION)

    def _says_thinking(self, text: str) -> bool:
        return self._brackets is Brackets.MODEL and _says_thinking(text)

    def _measure_unclosed(self, end: int) -> tuple[int, BeatKind]:
        """Measure an unclosed square bracket. A model's text after it is in doubt: private."""
        if self._brackets is Brackets.MODEL and self._pending[1:2].isalpha():
            return end + 1, BeatKind.THOUGHT
        return 1, BeatKind.SPEECH


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


def _find_closer(text: str, end: int) -> int | None:
    """Return the position of the bracket that closes the one at the start of `text`."""
    opener, closer, depth = text[0], _PAIRS[text[0]], 0
    for position in range(end):
        depth += (text[position] == opener) - (text[position] == closer)
        if depth == 0:
            return position
    return None


def _says_thinking(text: str) -> bool:
    """Whether the text begins with a label such as `Thinking:`."""
    label = _SAYS_THINKING.match(text)
    return label is not None and says_thinking(label.group(1))


def _begins_with_verb(text: str) -> bool:
    """Whether the text looks like a stage direction, such as `curtsies deeply` or `smiling`."""
    word = re.split(r"\W", text, maxsplit=1)[0].casefold()
    return len(word) > _LONGEST_PARTICLE and word.endswith(("s", "ing"))


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
