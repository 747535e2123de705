"""Public text line by line: the character's own name is taken off, another's line ends the reply."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.her.speaker_names import LINE_BREAKS, LabelOwner

if TYPE_CHECKING:
    from bot.her.speaker_names import Speakers

_BREAK = re.compile(f"[{LINE_BREAKS}]")


class LabelFilter:
    """Passes a stream of text on without labels. A run of text begins at the beginning of a line.

    Holds back what begins a line and may still become a label, 120 characters at most.
    """

    def __init__(self, speakers: Speakers) -> None:
        self._speakers = speakers
        self._held = ""
        self._at_start = True
        self._after_label = False
        self.stopped = False
        """True once somebody else's line has begun; from there on everything is dropped."""

    @property
    def held(self) -> str:
        """What was fed and not passed on yet."""
        return self._held

    def feed(self, text: str) -> str:
        """Take a piece of the stream and return what can be passed on."""
        return self._advance(text, final=False)

    def close(self) -> str:
        """Return the rest: the run has ended."""
        return self._advance("", final=True)

    def _advance(self, text: str, *, final: bool) -> str:
        self._held += text
        passed: list[str] = []
        while self._held and not self.stopped:
            if not self._at_start:
                passed.append(self._rest_of_line())
            elif not self._begin_line(passed, final=final):
                break
        if self.stopped:
            self._held = ""
        return "".join(passed)

    def _rest_of_line(self) -> str:
        line_break = _BREAK.search(self._held)
        end = line_break.end() if line_break else len(self._held)
        self._at_start = line_break is not None
        return self._take(end)

    def _begin_line(self, passed: list[str], *, final: bool) -> bool:
        """Decide on the label at the beginning of the line; False where more text is needed."""
        if self._after_label:
            self._held = self._held.lstrip()
        label = self._speakers.label(self._held, final=final)
        if label.voice is LabelOwner.UNDECIDED:
            return False
        if label.voice is LabelOwner.OTHER:
            self.stopped = True
        elif label.voice is LabelOwner.OWN:
            before = self._take(label.length)
            passed.append(before[: len(before) - len(before.lstrip())] + label.kept)
        else:
            lead = len(self._held) - len(self._held.lstrip())
            passed.append(self._take(lead))
            self._at_start = False
        self._after_label = label.voice is LabelOwner.OWN
        return True

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return taken
