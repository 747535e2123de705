"""Filter speaker labels out of public text.

The character's own name at the start of a line is removed. Another speaker's label ends the reply.
Text after a label that says thinking (`Thought:`, `### Thinking`) is private, up to a label of the
character or of the answer (`### Response`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from bot.her.speaker_names import LINE_BREAKS, LabelOwner

if TYPE_CHECKING:
    from bot.her.speaker_names import Label, Speakers

_FENCE = "```"
_BREAK = re.compile(f"[{LINE_BREAKS}]")


FilteredText: TypeAlias = tuple[str, bool]
"""A piece of text, and True if it is private."""


class LabelFilter:
    """Removes speaker labels from a stream of text, which starts at the beginning of a line.

    It holds back the start of a line, at most 120 characters, while that may still become a label.
    """

    def __init__(self, speakers: Speakers) -> None:
        self._speakers = speakers
        self._pending = ""
        self._at_start = True
        self._after_label = False
        self._is_private = False
        self._in_fence = False
        self.stopped = False
        """True once another speaker's line has begun. All further text is dropped."""

    @property
    def pending(self) -> str:
        """The text that was fed and not returned yet."""
        return self._pending

    def feed(self, text: str) -> list[FilteredText]:
        """Take a piece of the stream and return the text that is certain now."""
        return self._advance(text, final=False)

    def close(self) -> list[FilteredText]:
        """End the stream and return the remaining text."""
        return self._advance("", final=True)

    def _advance(self, text: str, *, final: bool) -> list[FilteredText]:
        self._pending += text
        passed: list[FilteredText] = []
        while self._pending and not self.stopped:
            if not self._at_start:
                self._pass_rest_of_line(passed)
            elif not (self._leave_fence(final=final) and self._begin_line(passed, final=final)):
                break
        if self.stopped:
            self._pending = ""
        return passed

    def _pass_rest_of_line(self, passed: list[FilteredText]) -> None:
        line_break = _BREAK.search(self._pending)
        end = line_break.end() if line_break else len(self._pending)
        self._at_start = line_break is not None
        self._pass(passed, end)

    def _leave_fence(self, *, final: bool) -> bool:
        """End a private code fence at its closing line. Return False if more text is needed."""
        if not self._in_fence:
            return True
        line = self._pending.lstrip()
        if len(line) < len(_FENCE) and _FENCE.startswith(line) and not final:
            return False
        if line.startswith(_FENCE):
            self._in_fence = self._is_private = False
            self._pending = line.lstrip("`")
        return True

    def _begin_line(self, passed: list[FilteredText], *, final: bool) -> bool:
        """Handle the label at the start of the line. Return False if more text is needed."""
        if self._after_label:
            self._pending = self._pending.lstrip()
        if not self._pending:
            return True
        label = self._speakers.read_label(self._pending, final=final)
        if label.owner is LabelOwner.UNDECIDED:
            return False
        self._after_label = False
        if self._in_fence:
            self._pass_unlabelled(passed)
        elif label.owner is LabelOwner.OTHER:
            self.stopped = True
        elif self._changes_privacy(label):
            self._is_private = label.owner is LabelOwner.THINKING
            self._in_fence = label.is_fence
            self._pass_break(passed, label)
        elif label.owner is LabelOwner.OWN:
            self._pass_break(passed, label)
            self._after_label = True
        else:
            self._pass_unlabelled(passed)
        return True

    def _changes_privacy(self, label: Label) -> bool:
        if label.owner is LabelOwner.ANSWER:
            return self._is_private or label.is_marked
        return label.owner is LabelOwner.THINKING or (
            label.owner is LabelOwner.OWN and self._is_private
        )

    def _pass_break(self, passed: list[FilteredText], label: Label) -> None:
        """Remove a label, but keep the white space before it."""
        before = self._pending[: label.length]
        self._pending = self._pending[label.length :]
        space = before[: len(before) - len(before.lstrip())]
        passed.append((space + label.kept, self._is_private))

    def _pass_unlabelled(self, passed: list[FilteredText]) -> None:
        self._pass(passed, len(self._pending) - len(self._pending.lstrip()))
        self._at_start = False

    def _pass(self, passed: list[FilteredText], length: int) -> None:
        if length:
            passed.append((self._pending[:length], self._is_private))
            self._pending = self._pending[length:]
