"""Decoding of a reply's tokens to text: UTF-8, stop strings, and the end of planning."""

from __future__ import annotations

import codecs
import re
from typing import Final

# Tags that cannot occur within planning: its closing tag in any spelling seen, and the opening
# tags of the parts that follow it.
_PLANNING_END: Final = re.compile(
    r"<\s*/\s*(?:system_think|think)|<\s*(?:long_)?role_", re.IGNORECASE
)


class Utf8Decoder:
    """Decodes a stream of bytes and holds an incomplete character back until it is complete."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> str:
        """Add bytes and return the characters that are complete."""
        return self._decoder.decode(data)

    def discard_partial(self) -> None:
        """Drop an incomplete character."""
        self._decoder.reset()


class StopStringFilter:
    """Passes text through up to the first stop string, also if that is split over chunks."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._first_characters = frozenset(stop[0] for stop in self._stops)
        self._held = ""
        self.reached = False

    def feed(self, text: str) -> str:
        """Add text and return the text that belongs to the reply for certain."""
        if not self._held and self._first_characters.isdisjoint(text):
            return text
        self._held += text
        found = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            self.reached = True
            safe = self._held[: min(found)]
            self._held = ""
            return safe
        overlap = max((_measure_overlap(self._held, stop) for stop in self._stops), default=0)
        cut = len(self._held) - overlap
        safe, self._held = self._held[:cut], self._held[cut:]
        return safe

    def flush(self) -> str:
        """Return the text that was held back, after the reply ended without a stop string."""
        safe, self._held = self._held, ""
        return safe


class PlanningTracker:
    """Tracks whether a reply is still in its planning block, and how long the block is.

    The block starts at the beginning of the reply, whether it was prefilled or not.
    """

    def __init__(self, prefill: str, closer: str, limit: int | None) -> None:
        self._opener = closer.replace("</", "<", 1)
        self._closer = closer
        self._limit = limit
        self._text = prefill
        self._tokens = 0
        self._ended = not closer or limit is None

    def feed(self, text: str, tokens: int = 1) -> None:
        """Add text to the reply, which is `tokens` long."""
        if self._ended:
            return
        self._tokens += tokens
        self._text += text
        text_so_far = self._text.lstrip()
        if self._closer in text_so_far or _PLANNING_END.search(text_so_far):
            self._ended = True
        elif not text_so_far.startswith(self._opener) and not self._opener.startswith(text_so_far):
            self._ended = True  # the reply started without a planning block

    @property
    def excess_tokens(self) -> int:
        """Number of tokens over the limit, counting the one that reaches it as 1.

        0 if the limit is not reached or the block is closed.
        """
        if self._ended or self._limit is None:
            return 0
        return max(0, self._tokens - self._limit + 1)


def _measure_overlap(text: str, stop: str) -> int:
    """Return the length of the longest end of `text` that is a beginning of `stop`."""
    longest = min(len(text), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if stop.startswith(text[-size:])), 0)
