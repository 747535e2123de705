"""Collect the text between two tags until the parser knows if it is public."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.her.beats import BeatKind
from bot.her.inline_actions import InlineActionParser
from bot.her.label_filter import LabelFilter
from bot.her.repetition import collapse_repetition

if TYPE_CHECKING:
    from bot.her.beat_builder import BeatBuilder
    from bot.her.beats import PrivateKind, PublicKind
    from bot.her.inline_actions import Piece
    from bot.her.speaker_names import Speakers

# Thinking in a wrapper other than a tag, such as `**role_thinking**:` or `(role_thinking)`.
_SPELT_OUT = re.compile(r"(?:system|role)[_-]think", re.IGNORECASE)
_LINE_BREAK = re.compile(r"(?<=\S)[^\S\r\n]*[\r\n]")


class TextSegment:
    """Collects text, then publishes or withholds it.

    If the reply's structure is guaranteed (`streaming`), text goes to the beat builder at once.
    Otherwise it waits for the tag that ends the segment.
    """

    def __init__(
        self, kind: PublicKind, speakers: Speakers, builder: BeatBuilder, *, streaming: bool
    ) -> None:
        self._kind = kind
        self._builder = builder
        self._streaming = streaming
        self._labels = LabelFilter(speakers)
        self._inline = InlineActionParser()
        self._passed: list[str] = []
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
        self._passed.append(self._labels.close())
        return "".join(self._passed)

    def feed(self, text: str) -> None:
        """Take a piece of the segment's text."""
        passed = self._labels.feed(text)
        self._passed.append(passed)
        if self._streaming:
            self._emit(self._kind, passed)

    def publish(
        self, kind: PublicKind | None = None, *, closed: bool = True, looped: bool = False
    ) -> None:
        """End the segment and make it public, as `kind` if that differs from the expected one.

        An action without a closing tag (not `closed`) ends with its first line. If `looped`, the
        phrase repeated at the end is kept once. Text that spells out the name of HER's thinking
        stays private.
        """
        if self._streaming:
            self._passed.append(self._labels.close())
            self._emit(self._kind, self._passed[-1])
        elif _SPELT_OUT.search(text := self.text):
            self._builder.add(BeatKind.THOUGHT, text)
        else:
            self._emit_all(
                kind or self._kind, collapse_repetition(text) if looped else text, closed=closed
            )
        self._add(self._inline.close())

    def withhold(self, kind: PrivateKind) -> None:
        """End the segment and make it private, except for text already streamed."""
        unpublished = self._inline.pending + self._labels.pending
        self._builder.add(kind, unpublished if self._streaming else self.text)

    def _emit_all(self, kind: PublicKind, text: str, *, closed: bool) -> None:
        first_line = None if closed else _LINE_BREAK.search(text)
        if kind is BeatKind.ACTION and first_line:
            self._emit(kind, text[: first_line.start()])
            self._first, kind, text = True, BeatKind.SPEECH, text[first_line.start() :]
        self._emit(kind, text)

    def _emit(self, kind: PublicKind, text: str) -> None:
        if kind is BeatKind.ACTION:
            self._add([(kind, text.replace("*", ""))], continues=True)
        else:
            self._add(self._inline.feed(text))

    def _add(self, pieces: list[Piece], *, continues: bool = False) -> None:
        for kind, text in pieces:
            separate = self._first or (kind is BeatKind.ACTION and not continues)
            self._builder.add(kind, text, separate=separate)
            self._first = False
