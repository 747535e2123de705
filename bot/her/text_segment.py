"""Collect the text between two tags until the parser knows if it is public."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from bot.her.beats import BeatKind
from bot.her.inline_actions import Brackets, InlineActionParser
from bot.her.label_filter import LabelFilter
from bot.her.preamble import PreambleFilter
from bot.her.repetition import collapse_repetition

if TYPE_CHECKING:
    from bot.her.beat_builder import BeatBuilder
    from bot.her.beats import PrivateKind, PublicKind
    from bot.her.inline_actions import Piece
    from bot.her.label_filter import FilteredText
    from bot.her.speaker_names import Speakers

# Thinking in a wrapper other than a tag, such as `**role_thinking**:` or `(role_thinking)`.
_SPELT_OUT = re.compile(r"[\s*_(\[{#`]*(?:system|role)[_-]think", re.IGNORECASE)
_LONGEST_NAME = len("system_think")
_BEGINNINGS = sorted(
    {
        f"{owner}{separator}think"[:length]
        for owner in ("system", "role")
        for separator in "_-"
        for length in range(1, _LONGEST_NAME)
    }
)
_SPELT_OUT_BEGUN = re.compile(
    rf"(?:(?<![^\W_])|(?<=_))[\s*_(\[{{#`]*(?:{'|'.join(_BEGINNINGS)})?\Z", re.IGNORECASE
)
_LINE_BREAK = re.compile(r"(?<=\S)[^\S\r\n]*[\r\n]")


class TextSegment:
    """Collects text, then publishes or withholds it.

    If the reply's structure is guaranteed (`streaming`), text goes to the beat builder at once.
    Otherwise it waits for the tag that ends the segment. Text that says it is thinking is private
    in both cases.
    """

    def __init__(
        self, kind: PublicKind, speakers: Speakers, builder: BeatBuilder, *, streaming: bool
    ) -> None:
        self._kind = kind
        self._builder = builder
        self._streaming = streaming
        self._preamble = PreambleFilter(
            speakers, streaming=streaming, active=not builder.has_public
        )
        self._labels = LabelFilter(speakers)
        self._guard = _SpeltOutGuard()
        self._inline = InlineActionParser(brackets=Brackets.MODEL)
        self._inline_in_action = InlineActionParser(marks="", brackets=Brackets.MODEL)
        self._passed: list[FilteredText] = []
        self._first = True

    @property
    def stopped(self) -> bool:
        """True once another speaker's line has begun."""
        return self._labels.stopped

    @property
    def is_blank(self) -> bool:
        """True if only the character's own name was fed. Read it at the end only."""
        return not self.text.strip()

    @property
    def text(self) -> str:
        """The segment's text without the character's own name. Read it at the end only."""
        self._passed += self._close_filters()
        return "".join(text for text, _ in self._passed)

    def feed(self, text: str) -> None:
        """Take a piece of the segment's text."""
        passed = self._filter(*self._preamble.feed(text))
        self._passed += passed
        if self._streaming:
            self._stream(passed)

    def publish(
        self, kind: PublicKind | None = None, *, closed: bool = True, looped: bool = False
    ) -> None:
        """End the segment and make it public, as `kind` if that differs from the expected one.

        An action without a closing tag (not `closed`) ends with its first line. If `looped`, the
        phrase repeated at the end is kept once. Text that spells out the name of HER's thinking
        stays private.
        """
        if self._streaming:
            rest = self._close_filters()
            self._passed += rest
            self._stream(rest)
            self._emit(self._kind, self._guard.close())
        elif _SPELT_OUT.search(text := self.text):
            self._builder.add(BeatKind.THOUGHT, text)
        else:
            self._publish_passed(kind or self._kind, closed=closed, looped=looped)
        self._flush()

    def withhold(self, kind: PrivateKind) -> None:
        """End the segment and make it private, except for text already streamed."""
        if not self._streaming:
            self._builder.add(kind, self.text)
            return
        inline = self._inline.pending + self._inline_in_action.pending
        held = self._labels.pending + self._preamble.pending
        self._builder.add(kind, inline + self._guard.close() + held)

    def _filter(self, preamble: str, text: str) -> list[FilteredText]:
        passed: list[FilteredText] = [(preamble, True)] if preamble else []
        return [*passed, *self._labels.feed(text)]

    def _close_filters(self) -> list[FilteredText]:
        return [*self._filter(*self._preamble.close()), *self._labels.close()]

    def _stream(self, passed: list[FilteredText]) -> None:
        for text, is_private in passed:
            if is_private:
                self._emit(self._kind, self._guard.close())
                self._emit_private(text)
                continue
            public, private = self._guard.feed(text)
            self._emit(self._kind, public)
            if private:
                self._emit_private(private)

    def _publish_passed(self, kind: PublicKind, *, closed: bool, looped: bool) -> None:
        pieces = [
            ("".join(text for text, _ in group), is_private)
            for is_private, group in groupby(self._passed, itemgetter(1))
        ]
        for index, (text, is_private) in enumerate(pieces):
            if is_private:
                self._emit_private(text)
                continue
            is_last = index == len(pieces) - 1
            final = collapse_repetition(text) if looped and is_last else text
            self._emit_all(kind, final, closed=closed)

    def _emit_all(self, kind: PublicKind, text: str, *, closed: bool) -> None:
        first_line = None if closed else _LINE_BREAK.search(text)
        if kind is BeatKind.ACTION and first_line:
            self._emit(kind, text[: first_line.start()])
            self._flush()
            self._first = True
            kind = BeatKind.SPEECH
            text = text[first_line.start() :]
        self._emit(kind, text)

    def _emit(self, kind: PublicKind, text: str) -> None:
        if kind is BeatKind.ACTION:
            pieces = self._inline_in_action.feed(text)
            self._add(_as_action(pieces), continues=True)
        else:
            self._add(self._inline.feed(text))

    def _emit_private(self, text: str) -> None:
        self._flush()
        self._builder.add(BeatKind.THOUGHT, text, separate=self._first)
        self._first = False

    def _flush(self) -> None:
        self._add(_as_action(self._inline_in_action.close()), continues=True)
        self._add(self._inline.close())

    def _add(self, pieces: list[Piece], *, continues: bool = False) -> None:
        for kind, text in pieces:
            separate = self._first or (kind is not BeatKind.SPEECH and not continues)
            self._builder.add(kind, text, separate=separate)
            self._first = False


class _SpeltOutGuard:
    """Finds text that spells out the name of HER's thinking in a stream.

    All text from there on is private. It holds back text that may still become such a name.
    """

    def __init__(self) -> None:
        self._context = ""  # the last characters that were returned
        self._pending = ""
        self._found = False

    def feed(self, text: str) -> tuple[str, str]:
        """Take a piece of the stream and return its public and its private text."""
        self._pending += text
        if self._found:
            return "", self.close()
        known = len(self._context)
        match = _SPELT_OUT.search(self._context + self._pending)
        if match and match.end() > known:
            self._found = True
            start = max(0, match.start() - known)
            public, private = self._pending[:start], self._pending[start:]
            self._pending = ""
            return public, private
        end = self._find_safe_end()
        public, self._pending = self._pending[:end], self._pending[end:]
        self._context = (self._context + public)[-_LONGEST_NAME:]
        return public, ""

    def close(self) -> str:
        """Return the text held back."""
        text, self._pending = self._pending, ""
        return text

    def _find_safe_end(self) -> int:
        begun = _SPELT_OUT_BEGUN.search(self._pending)
        if begun is None or (begun.start() == 0 and self._context[-1:].isalnum()):
            return len(self._pending)
        return begun.start()


def _as_action(pieces: list[Piece]) -> list[Piece]:
    return [
        (BeatKind.ACTION if kind is BeatKind.SPEECH else kind, text.replace("*", ""))
        for kind, text in pieces
    ]
