"""Filter speaker labels out of public text.

The character's own name at the start of a line is removed. Another speaker's label ends the reply.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.her.speaker_names import LINE_BREAKS, LabelOwner

if TYPE_CHECKING:
    from bot.her.speaker_names import Speakers

_BREAK = re.compile(f"[{LINE_BREAKS}]")


class LabelFilter:
    """Removes speaker labels from a stream of text, which starts at the beginning of a line.

    It holds back the start of a line, at most 120 characters, while that may still become a label.
    """

    def __init__(self, speakers: Speakers) -> None:
        self._speakers = speakers
        self._pending = ""
        self._at_start = True
        self._after_label = False
        self.stopped = False
        """True once another speaker's line has begun. All further text is dropped."""

    @property
    def pending(self) -> str:
        """The text that was fed and not returned yet."""
        return self._pending

    def feed(self, text: str) -> str:
        """Take a piece of the stream and return the text that is certain now."""
        return self._advance(text, final=False)

    def close(self) -> str:
        """End the stream and return the remaining text."""
        return self._advance("", final=True)

    def _advance(self, text: str, *, final: bool) -> str:
        self._pending += text
        passed: list[str] = []
        while self._pending and not self.stopped:
            if not self._at_start:
                passed.append(self._rest_of_line())
            elif not self._begin_line(passed, final=final):
                break
        if self.stopped:
            self._pending = ""
        return "".join(passed)

    def _rest_of_line(self) -> str:
        line_break = _BREAK.search(self._pending)
        end = line_break.end() if line_break else len(self._pending)
        self._at_start = line_break is not None
        return self._take(end)

    def _begin_line(self, passed: list[str], *, final: bool) -> bool:
        """Handle the label at the start of the line. Return False if more text is needed."""
        if self._after_label:
            self._pending = self._pending.lstrip()
        label = self._speakers.read_label(self._pending, final=final)
        if label.owner is LabelOwner.UNDECIDED:
            return False
        if label.owner is LabelOwner.OTHER:
            self.stopped = True
        elif label.owner is LabelOwner.OWN:
            before = self._take(label.length)
            passed.append(before[: len(before) - len(before.lstrip())] + label.kept)
        else:
            indent = len(self._pending) - len(self._pending.lstrip())
            passed.append(self._take(indent))
            self._at_start = False
        self._after_label = label.owner is LabelOwner.OWN
        return True

    def _take(self, length: int) -> str:
        taken, self._pending = self._pending[:length], self._pending[length:]
        return taken
