"""One stretch of text between two tags, while it is open whether everyone may read it."""

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

# Thinking in an envelope that is no tag, such as `**role_thinking**:` or `(role_thinking)`.
_SPELT_OUT = re.compile(r"(?:system|role)[_-]think", re.IGNORECASE)
_LINE_BREAK = re.compile(r"(?<=\S)[^\S\r\n]*[\r\n]")


class TextSegment:
    """Hears text and ends published or withheld.

    Where the reply's structure is guaranteed (`streaming`) text goes to the script as it is heard; otherwise all of it
    waits for the tag that ends the run.
    """

    def __init__(
        self, kind: PublicKind, speakers: Speakers, script: BeatBuilder, *, streaming: bool
    ) -> None:
        self._kind = kind
        self._script = script
        self._streaming = streaming
        self._lines = LabelFilter(speakers)
        self._inline = InlineActionParser()
        self._passed: list[str] = []
        self._first = True

    @property
    def stopped(self) -> bool:
        """Whether somebody else's line has begun."""
        return self._lines.stopped

    @property
    def is_blank(self) -> bool:
        """Whether nothing was said but perhaps the character's own name; to be asked when the run has ended."""
        return not self.heard.strip()

    @property
    def heard(self) -> str:
        """What was heard, without the character's own name; to be asked when the run has ended."""
        self._passed.append(self._lines.close())
        return "".join(self._passed)

    def hear(self, text: str) -> None:
        """Take a piece of the run's text."""
        passed = self._lines.feed(text)
        self._passed.append(passed)
        if self._streaming:
            self._speak(self._kind, passed)

    def publish(
        self, kind: PublicKind | None = None, *, closed: bool = True, looped: bool = False
    ) -> None:
        """End the run: everyone may read it, as `kind` where that turned out another one.

        An action that was never `closed` ends with its first line. A phrase repeated for ever (`looped`) is said once.
        A run that spells the name of HER's thinking out is in doubt and stays private all the same.
        """
        if self._streaming:
            self._passed.append(self._lines.close())
            self._speak(self._kind, self._passed[-1])
        elif _SPELT_OUT.search(heard := self.heard):
            self._script.add(BeatKind.THOUGHT, heard)
        else:
            self._speak_all(
                kind or self._kind, collapse_repetition(heard) if looped else heard, closed=closed
            )
        self._add(self._inline.close())

    def withhold(self, kind: PrivateKind) -> None:
        """End the run: it is private, but for what was streamed before."""
        unsaid = self._inline.held + self._lines.held
        self._script.add(kind, unsaid if self._streaming else self.heard)

    def _speak_all(self, kind: PublicKind, text: str, *, closed: bool) -> None:
        first_line = None if closed else _LINE_BREAK.search(text)
        if kind is BeatKind.ACTION and first_line:
            self._speak(kind, text[: first_line.start()])
            self._first, kind, text = True, BeatKind.SPEECH, text[first_line.start() :]
        self._speak(kind, text)

    def _speak(self, kind: PublicKind, text: str) -> None:
        if kind is BeatKind.ACTION:
            self._add([(kind, text.replace("*", ""))], goes_on=True)
        else:
            self._add(self._inline.feed(text))

    def _add(self, pieces: list[Piece], *, goes_on: bool = False) -> None:
        for kind, text in pieces:
            apart = self._first or (kind is BeatKind.ACTION and not goes_on)
            self._script.add(kind, text, apart=apart)
            self._first = False
