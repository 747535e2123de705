"""One worker process, seen from the bot: frames to it, events from it, and its death."""

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
from bot.engine.local.openmp import spin_briefly
from bot.engine.local.worker_messages import EVENTS, HEAD, pack

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.local.worker_messages import Command, Event

log = logging.getLogger(__name__)

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows ends a process by the latter
_LAST_WORDS = 40


class WorkerProcess:
    """A running worker. Made by `spawn`; whoever made it calls `end`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._words: collections.deque[str] = collections.deque(maxlen=_LAST_WORDS)
        self._listening = asyncio.create_task(self._listen(), name="worker's standard error")

    @classmethod
    async def spawn(cls) -> WorkerProcess:
        """Start a worker. Raises OSError."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-X", "faulthandler", "-m", "bot.engine.local.worker", str(os.getpid())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(),
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def last_words(self) -> str:
        """The latest lines of its standard error, for the log at level DEBUG."""
        return "\n".join(self._words)

    def send(self, command: Command) -> None:
        """Send a command; one sent to a dead worker is lost, as its death will tell."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        with contextlib.suppress(ConnectionError, RuntimeError):
            self._process.stdin.write(pack(command))

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield events until the worker closes its end or dies."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        stream = self._process.stdout
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (length,) = HEAD.unpack(await stream.readexactly(HEAD.size))
                yield EVENTS.validate_json(await stream.readexactly(length))

    def kill(self) -> None:
        """End it at once."""
        # Not by the process's own method: that may reap it behind asyncio's back, which then loses the exit status.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, _KILL)

    async def end(self) -> int:
        """Make sure that it is gone, and return its exit status (negative: the signal that ended it)."""
        self.kill()
        status = await self._process.wait()
        await self._listening
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        self._process.stdin.close()
        return status

    async def _listen(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - for the type checker
        while chunk := await self._process.stderr.read(65536):
            for line in chunk.decode("utf-8", "replace").splitlines():
                if line.strip(" ."):
                    self._words.append(line)
                    log.debug("worker %d: %s", self._process.pid, line)


def environment() -> dict[str, str]:
    """Return the environment of a worker: that of all children, with threads that wait well."""
    kept = subprocess_env.child_environment()
    spin_briefly(kept)
    return kept
