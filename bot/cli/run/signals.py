"""Cancel a program's main task when the system asks it to end."""

from __future__ import annotations

import asyncio
import contextlib
import signal


def cancel_on_signals() -> None:
    """Cancel the calling task on SIGTERM or SIGHUP, as Ctrl-C does.

    It is cancelled only once. A closed terminal sends the signal twice (by the shell and by the
    system), and a second cancellation would interrupt the clean-up. Signals that the program was
    started to ignore (`nohup`) stay ignored. If the event loop can't handle signals, the system's
    default applies.
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
