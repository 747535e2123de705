"""Replace standard streams that are closed."""

from __future__ import annotations

import os
import sys

_STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}


def replace_closed_streams() -> None:
    """Open the null device for every standard stream that is closed.

    Call this before opening any file. Otherwise a database could get the closed stream's number,
    and messages of a C library would be written into it.
    """
    for name, mode in _STREAMS.items():
        if getattr(sys, name) is None:  # Python's sign for a closed stream
            null = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(null, True)
            setattr(sys, name, os.fdopen(null, mode, encoding="utf-8", errors="replace"))
