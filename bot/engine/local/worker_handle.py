"""One worker process as the bot sees it: commands to it, events from it, and its exit."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

from bot import subprocess_env
from bot.engine.local.openmp import limit_spinning
from bot.engine.local.worker_messages import EVENTS, HEADER, pack

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.local.worker_messages import Command, Event

log = logging.getLogger(__name__)

_KILL_SIGNAL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no SIGKILL
_STDERR_LINES = 40


class WorkerHandle:
    """A running worker. Create it with `spawn`, and call `terminate` in the end."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._stderr: collections.deque[str] = collections.deque(maxlen=_STDERR_LINES)
        self._stderr_reader = asyncio.create_task(self._read_stderr(), name="worker's stderr")

    @classmethod
    async def spawn(cls) -> WorkerHandle:
        """Start a worker. Raises OSError."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            "bot.engine.local.worker",
            str(os.getpid()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=worker_environment(),
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def recent_stderr(self) -> str:
        """The latest lines of standard error."""
        return "\n".join(self._stderr)

    def send(self, command: Command) -> None:
        """Send a command. It is lost if the worker has died, which ends `events`."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        with contextlib.suppress(ConnectionError, RuntimeError):
            self._process.stdin.write(pack(command))

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield events until the worker closes its output or dies."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        stream = self._process.stdout
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (length,) = HEADER.unpack(await stream.readexactly(HEADER.size))
                yield EVENTS.validate_json(await stream.readexactly(length))

    def kill(self) -> None:
        """Kill the process at once."""
        # `Process.kill` may reap the process without asyncio, which then loses the exit status.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, _KILL_SIGNAL)

    async def terminate(self) -> int:
        """Kill the process and return its exit status, negative if a signal ended it."""
        self.kill()
        status = await self._process.wait()
        await self._stderr_reader
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        self._process.stdin.close()
        return status

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - for the type checker
        while chunk := await self._process.stderr.read(65536):
            for line in chunk.decode("utf-8", "replace").splitlines():
                if line.strip(" ."):
                    self._stderr.append(line)
                    log.debug("worker %d: %s", self._process.pid, line)


def worker_environment() -> dict[str, str]:
    """Return the environment of a worker: that of every subprocess, with OpenMP settings."""
    environ = subprocess_env.child_environment()
    limit_spinning(environ)
    return environ
