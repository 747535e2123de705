"""Ends a program that runs an event loop when the system asks it to."""

from __future__ import annotations

import asyncio
import contextlib
import signal


def cancel_on_signals() -> None:
    """Have the task that calls this cancelled, as on Ctrl-C, where the program shall end or its terminal is closed.

    Once: a terminal that is closed says so twice, by the shell and by the system, and to be cancelled again would break
    off what is put in order. What the program was started to ignore (`nohup`) it goes on ignoring; where signals can't
    be awaited, the system's way stands.
    """
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - only tasks call this

    def end() -> None:
        if not task.cancelling():
            task.cancel()

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, end)
