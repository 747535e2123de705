"""The standard streams, where whoever started the program closed some of them."""

from __future__ import annotations

import os
import sys

_STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}


def replace_closed_streams() -> None:
    """Put the null device in the place of every standard stream that is closed. Call it before anything is opened: a
    database would get the number of the closed stream, and whatever a library in C says there would be written to it.
    """
    for name, mode in _STREAMS.items():
        if getattr(sys, name) is None:  # so Python tells that it was closed
            null = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(null, True)
            setattr(sys, name, os.fdopen(null, mode, encoding="utf-8", errors="replace"))
