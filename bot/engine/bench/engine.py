"""`aside bench engine`: the local engine beside what it is held against, all in one run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from typing import TYPE_CHECKING

from bot.engine.bench.measuring import Course, measure
from bot.engine.bench.report import EngineReport, Figures
from bot.engine.local.engine import LocalEngine
from bot.engine.local.options import LocalOptions
from bot.engine.remote import RemoteEngine, RemoteOptions
from bot.errors import EngineStartError
from bot.weights import find

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OURS = "aside"
SERVER = "llama-server"
_SERVER_PATIENCE = 120  # seconds a server may take to load the model


async def bench_engine(
    model: str, course: Course | None = None, *, server: Path | None = None, threads: int | None = None
) -> EngineReport:
    """Measure the local engine with `model`, the baselines, and a `llama-server` at the path `server` where given.

    Raises what starting an engine raises.
    """
    course = course or Course()
    context = course.history + 1024
    path = (await asyncio.to_thread(find.resolve, model)).path
    threads = threads or max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
    options = LocalOptions(model=model, context=context, minds=course.streams, threads=threads, cache_type="f16")
    engine = LocalEngine(options)
    await engine.start()
    try:
        figures = [await measure(engine, course, OURS)]
        info = engine.info
    finally:
        await engine.close()
    figures += await _baselines(path, threads, course)
    if server:
        async with _serving(server, path, threads, context, course.streams) as remote:
            figures.append(await measure(remote, course, SERVER))
    return EngineReport(
        model=info.model, device=info.device, history=course.history, rounds=course.rounds, figures=tuple(figures)
    )


async def _baselines(path: Path, threads: int, course: Course) -> list[Figures]:
    numbers = (threads, course.streams, course.history, course.rounds)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bot.engine.bench.baseline", str(path), *map(str, numbers)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        out, _ = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    if process.returncode:
        raise EngineStartError(f"The baselines could not be measured (status {process.returncode}).")
    return [Figures.model_validate_json(line) for line in out.splitlines()]


@contextlib.asynccontextmanager
async def _serving(server: Path, model: Path, threads: int, context: int, streams: int) -> AsyncIterator[RemoteEngine]:
    """A llama-server on loopback, and an engine that asks it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "-m": model,
        "-np": streams,
        "-c": context * streams,
        "-t": threads,
        "--host": "127.0.0.1",
        "--port": port,
    }
    try:
        process = await asyncio.create_subprocess_exec(
            str(server),
            *(str(word) for pair in settings.items() for word in pair),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        raise EngineStartError(f"{server} can't be run ({error.strerror or error}).") from error
    remote = RemoteEngine(RemoteOptions(base_url=(f"http://127.0.0.1:{port}/v1",), context=context))
    try:
        await _wait_for(remote, process)
        yield remote
    finally:
        await remote.close()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _wait_for(remote: RemoteEngine, process: asyncio.subprocess.Process) -> None:
    for _ in range(_SERVER_PATIENCE):
        try:
            return await remote.start()
        except EngineStartError:
            if process.returncode is not None:
                break
            await asyncio.sleep(1)
    raise EngineStartError("The llama-server that was given did not come up.")
