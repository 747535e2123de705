"""What the local engine is held against, each in a process of its own: llama.cpp's own programs, and `Llama`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.bench.report import ALONE, BARE, BATCHED, Figures, Written
from bot.engine.local.worker_process import environment
from bot.engine.remote_engine import RemoteEngine, RemoteOptions
from bot.errors import EngineStartError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.bench.measure import BenchOptions

_PROMPT = 32  # tokens that each stream reads before it writes
_PATIENCE = 120  # seconds a server may take to load the model


@dataclass(frozen=True, slots=True)
class BenchConditions:
    """What all sides have in common."""

    model: Path
    threads: int
    course: BenchOptions

    @property
    def context(self) -> int:
        """Tokens of one mind. How many tokens a history of so many words has depends on the model."""
        return self.course.history * 3 // 2 + 1024


async def bare(grounds: BenchConditions) -> Written:
    """Return tokens a second of `llama_decode` alone, from Python."""
    course = grounds.course
    one, many = json.loads(
        await _said(sys.executable, *_baseline("bare", grounds, course.streams, course.tokens))
    )
    return Written(one=one, many=many)


async def batched(program: Path, grounds: BenchConditions) -> Written:
    """Return tokens a second that llama-batched-bench writes."""
    course = grounds.course
    settings = {
        "-m": grounds.model,
        "-c": 512 * course.streams,
        "-t": grounds.threads,
        "-npp": _PROMPT,
        "-ntg": course.tokens,
        "-npl": f"1,{course.streams}",
        "--output-format": "jsonl",
    }
    lines = (await _said(program, *_words(settings))).splitlines()
    told = {run["pl"]: float(run["speed_tg"]) for run in map(json.loads, filter(_is_json, lines))}
    if set(told) != {1, course.streams}:
        raise EngineStartError(f"{program} measured nothing: is it llama-batched-bench?")
    return Written(one=told[1], many=told[course.streams])


async def alone(grounds: BenchConditions) -> Figures:
    """Return the seconds of a rotation with llama-cpp-python's `Llama`, one request at a time."""
    course = grounds.course
    out = await _said(sys.executable, *_baseline("alone", grounds, course.streams, course.history))
    return Figures(name=ALONE, streams=course.streams, rotation=json.loads(out))


@dataclass
class Decoder:
    """The rival that only decodes: llama-batched-bench, or where it isn't given, a loop from Python."""

    grounds: BenchConditions
    batched_bench: Path | None
    _written: list[Written] = field(default_factory=list)

    async def write(self) -> None:
        """Have it measured once more."""
        measured = (
            batched(self.batched_bench, self.grounds) if self.batched_bench else bare(self.grounds)
        )
        self._written.append(await measured)

    def figures(self) -> Figures:
        """Return all that was measured."""
        name = BATCHED if self.batched_bench else BARE
        return Figures(name=name, streams=self.grounds.course.streams, written=tuple(self._written))


@contextlib.asynccontextmanager
async def serving(program: Path, grounds: BenchConditions) -> AsyncIterator[RemoteEngine]:
    """A llama-server on loopback, and an engine that asks it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    streams = grounds.course.streams
    settings = {
        "-m": grounds.model,
        "-np": streams,
        "-c": grounds.context * streams,
        "-t": grounds.threads,
        "--host": "127.0.0.1",
        "--port": port,
    }
    process = await _started(program, *_words(settings))
    remote = RemoteEngine(
        RemoteOptions(base_url=(f"http://127.0.0.1:{port}/v1",), context=grounds.context)
    )
    draining = asyncio.create_task(process.communicate())
    try:
        await _wait_for(remote, process)
        yield remote
    finally:
        await remote.close()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await draining


async def _wait_for(remote: RemoteEngine, process: asyncio.subprocess.Process) -> None:
    for _ in range(_PATIENCE):
        try:
            return await remote.start()
        except EngineStartError:
            if process.returncode is not None:
                break
            await asyncio.sleep(1)
    raise EngineStartError("The llama-server that was given did not come up.")


def _baseline(what: str, grounds: BenchConditions, *numbers: int) -> list[str]:
    return [
        "-m",
        "bot.bench.llama_baseline",
        what,
        str(grounds.model),
        str(grounds.threads),
        *map(str, numbers),
    ]


def _is_json(line: bytes) -> bool:
    return line.startswith(b"{")


def _words(settings: dict[str, object]) -> list[str]:
    return [str(word) for pair in settings.items() for word in pair]


async def _said(program: Path | str, *words: str) -> bytes:
    """What a program says on standard output."""
    process = await _started(program, *words)
    try:
        out, _ = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    if process.returncode:
        raise EngineStartError(
            f"{program} ended with status {process.returncode}: nothing was measured."
        )
    return out


async def _started(program: Path | str, *words: str) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            str(program),
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment(),  # as the worker's: how threads wait for each other must be the same for all sides
        )
    except OSError as error:
        raise EngineStartError(f"{program} can't be run ({error.strerror or error}).") from error
