"""A person at a pseudo-terminal with `aside` in a session of its own."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import re
import struct
import sys
import termios
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CTRL_C, CTRL_D, UP = "\x03", "\x04", "\x1b[A"

# Make it the controlling terminal, so that Ctrl-C reaches the program as in a shell.
_ASIDE = """
import fcntl, runpy, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.argv[0] = "aside"
runpy.run_module("bot", run_name="__main__")
"""


@dataclass
class Typist:
    """Types, and reads the terminal's output."""

    process: asyncio.subprocess.Process
    terminal: int
    shown: str = ""
    read: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def types(self, text: str, end: str = "\n") -> None:
        os.write(self.terminal, (text + end).encode())

    async def reads(self, text: str, within: float = 30.0) -> str:
        """Wait for a text and return the output since the last one, including it."""
        try:
            async with asyncio.timeout(within):
                while (at := self.shown.find(text, self.read)) < 0:
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            raise AssertionError(
                f"{text!r} is not shown, only {self.shown[self.read :]!r}"
            ) from None
        begun = self.read
        self.read = at + len(text)
        return self.shown[begun : self.read]

    async def pauses(self) -> None:
        """Wait a moment. Readline misses a signal between its prompt and its wait."""
        await asyncio.sleep(0.3)

    async def ends(self, within: float = 30.0) -> int:
        """Wait for the end of the program and return its exit status."""
        async with asyncio.timeout(within):
            return await self.process.wait()

    def left_behind(self) -> list[str]:
        """Return the processes of this terminal that still run."""
        return [" ".join(words) for words in _processes() if words[3] == str(self.process.pid)]

    def hear(self) -> None:
        try:
            self.shown += (
                os.read(self.terminal, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
            )
        except OSError:  # the other side is closed
            asyncio.get_running_loop().remove_reader(self.terminal)
        self.news.set()


@asynccontextmanager
async def at_a_terminal(folder: Path, *arguments: str, **environ: str) -> AsyncIterator[Typist]:
    """Run `aside` with these arguments in `folder`, on a terminal of 40 lines and 160 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    clean = {
        name: value
        for name, value in os.environ.items()
        if not re.match("ASIDE_|DISCORD_|NO_COLOR", name)
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _ASIDE,
        *arguments,
        cwd=folder,
        env=clean | {"TERM": "dumb", "PYTHONPATH": os.pathsep.join(sys.path)} | environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    typist = Typist(process, ours)
    asyncio.get_running_loop().add_reader(ours, typist.hear)
    try:
        yield typist
    finally:
        asyncio.get_running_loop().remove_reader(ours)
        if process.returncode is None:
            process.kill()
        await process.wait()
        os.close(ours)


def _processes() -> list[list[str]]:
    """Return state, parent, group and session of every process except zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                if words[0] != "Z":
                    found.append(words[:4])
    return found
