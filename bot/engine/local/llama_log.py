"""Capture of llama.cpp's log.

It is written to standard error instead of the terminal, and the bot logs that at level DEBUG.
"""

from __future__ import annotations

import collections
import sys

from bot.weights.log_receiver import set_log_receiver

_MAX_LINES = 1000
_DEBUG = 1  # ggml's log level
_NEEDED_DEBUG_TEXT = "assigned to device"  # a debug line that says which layer is on which device


class LlamaLog:
    """Receives llama.cpp's log and keeps its latest lines."""

    def __init__(self) -> None:
        self._lines: collections.deque[str] = collections.deque(maxlen=_MAX_LINES)
        set_log_receiver(self._receive)

    @property
    def text(self) -> str:
        """The latest lines."""
        return "".join(self._lines)

    def clear(self) -> None:
        """Drop all lines."""
        self._lines.clear()

    def _receive(self, level: int, text: bytes) -> None:
        line = text.decode("utf-8", "replace")
        if level == _DEBUG and _NEEDED_DEBUG_TEXT not in line:
            return
        self._lines.append(line)
        sys.stderr.write(line)
