"""From tokens to text, for one reply: whole characters, stop strings, and the end of planning."""

from __future__ import annotations

import codecs
import re
from typing import Final

# Any tag that can't stand within planning: its closer in one of the spellings seen, or the opener of what follows it.
_PLANNING_IS_OVER: Final = re.compile(
    r"<\s*/\s*(?:system_think|think)|<\s*(?:long_)?role_", re.IGNORECASE
)


class Characters:
    """Turns bytes into whole characters; what is half a character waits for its other half."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> str:
        """Take bytes and return the characters that are whole by now."""
        return self._decoder.decode(data)

    def drop_half(self) -> None:
        """Forget half a character."""
        self._decoder.reset()


class Stops:
    """Lets text through up to the first stop string, however it was cut into pieces."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._begins = frozenset(stop[0] for stop in self._stops)
        self._held = ""
        self.reached = False

    def feed(self, text: str) -> str:
        """Take text and return what surely belongs to the reply."""
        if not self._held and self._begins.isdisjoint(text):
            return text
        self._held += text
        found = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            self.reached = True
            safe, self._held = self._held[: min(found)], ""
            return safe
        keep = max((_overlap(self._held, stop) for stop in self._stops), default=0)
        safe, self._held = (
            self._held[: len(self._held) - keep],
            self._held[len(self._held) - keep :],
        )
        return safe

    def flush(self) -> str:
        """Return what was held back, when the reply has ended otherwise."""
        safe, self._held = self._held, ""
        return safe


class PlanningTracker:
    """Whether a reply is still planning: from its beginning (prefilled or not) until the block is closed."""

    def __init__(self, prefill: str, closer: str, limit: int | None) -> None:
        self._opener = closer.replace("</", "<", 1)
        self._closer = closer
        self._limit = limit
        self._text = prefill
        self._tokens = 0
        self.over = not closer or limit is None

    def feed(self, text: str, tokens: int = 1) -> None:
        """Take what one token, or several, added to the reply."""
        if self.over:
            return
        self._tokens += tokens
        self._text += text
        begun = self._text.lstrip()
        if self._closer in begun or _PLANNING_IS_OVER.search(begun):
            self.over = True
        elif not begun.startswith(self._opener) and not self._opener.startswith(begun):
            self.over = True  # it never began

    @property
    def tokens_too_many(self) -> int:
        """By how many tokens the block has reached its limit; 0: not yet, or it is closed."""
        return 0 if self.over or self._limit is None else max(0, self._tokens - self._limit + 1)


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that may become `stop`."""
    longest = min(len(text), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if stop.startswith(text[-size:])), 0)
