"""llama.cpp's own log, kept off the terminal: it goes to standard error, which the bot logs at DEBUG."""

from __future__ import annotations

import collections
import ctypes
import sys

import llama_cpp

_LINES = 1000
_DEBUG = 1  # ggml's own level
_TELLING = "assigned to device"  # said at that level, but needed: which layer went where


class LlamaLog:
    """Receives llama.cpp's log and keeps the latest of it. Keep a reference while llama.cpp runs."""

    def __init__(self) -> None:
        self._lines: collections.deque[str] = collections.deque(maxlen=_LINES)
        self._callback = llama_cpp.llama_log_callback(self._hear)
        llama_cpp.llama_log_set(self._callback, ctypes.c_void_p(0))

    @property
    def text(self) -> str:
        """The latest that was said."""
        return "".join(self._lines)

    def forget(self) -> None:
        """Begin anew."""
        self._lines.clear()

    def _hear(self, level: int, text: bytes, _data: object) -> None:
        line = text.decode("utf-8", "replace")
        if level == _DEBUG and _TELLING not in line:
            return
        self._lines.append(line)
        sys.stderr.write(line)
