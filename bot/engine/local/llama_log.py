"""Capture of llama.cpp's log.

It is written to standard error instead of the terminal, and the bot logs that at level DEBUG.
"""

from __future__ import annotations

import collections
import ctypes
import sys

import llama_cpp

_MAX_LINES = 1000
_DEBUG = 1  # ggml's log level
_NEEDED_DEBUG_TEXT = "assigned to device"  # a debug line that says which layer is on which device


class LlamaLog:
    """Receives llama.cpp's log and keeps its latest lines.

    Keep a reference to it while llama.cpp is in use, since llama.cpp calls back into it.
    """

    def __init__(self) -> None:
        self._lines: collections.deque[str] = collections.deque(maxlen=_MAX_LINES)
        self._callback = llama_cpp.llama_log_callback(self._receive)
        llama_cpp.llama_log_set(self._callback, ctypes.c_void_p(0))

    @property
    def text(self) -> str:
        """The latest lines."""
        return "".join(self._lines)

    def clear(self) -> None:
        """Drop all lines."""
        self._lines.clear()

    def _receive(self, level: int, text: bytes, _data: object) -> None:
        line = text.decode("utf-8", "replace")
        if level == _DEBUG and _NEEDED_DEBUG_TEXT not in line:
            return
        self._lines.append(line)
        sys.stderr.write(line)
