"""The Python function that receives llama.cpp's log.

llama.cpp keeps calling the C function that it was given last. If Python has freed that function,
the next message crashes the process. So this module keeps a single C function, and only the Python
function that it calls can change.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import llama_cpp

if TYPE_CHECKING:
    from collections.abc import Iterator

LogReceiver = Callable[[int, bytes], object]
"""A function of a message's level, as ggml numbers it, and its text."""


def set_log_receiver(receive: LogReceiver) -> None:
    """Send llama.cpp's log to `receive`, until the next call."""
    _receivers[0] = receive
    llama_cpp.llama_log_set(_callback, ctypes.c_void_p(0))


@contextlib.contextmanager
def capture_log() -> Iterator[list[bytes]]:
    """Collect llama.cpp's messages in the list that this yields, instead of the receiver before.

    The receiver before is restored afterwards. If there was none, the log is then ignored.
    """
    said: list[bytes] = []
    before = _receivers[0]
    set_log_receiver(lambda _level, text: said.append(text))
    try:
        yield said
    finally:
        set_log_receiver(before)


def _ignore(_level: int, _text: bytes) -> None:
    pass


def _receive(level: int, text: bytes, _data: object) -> None:
    _receivers[0](level, text)


_receivers: Final[list[LogReceiver]] = [_ignore]  # always one
_callback: Final = llama_cpp.llama_log_callback(_receive)
