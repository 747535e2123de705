"""Programs that the local engine is compared with, each in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.bench.report import ALONE, BARE, BATCHED, Figures, Written
from bot.engine.local.worker_handle import worker_environment
from bot.engine.remote_engine import RemoteEngine, RemoteOptions
from bot.errors import EngineStartError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.bench.measure import BenchOptions

_PROMPT_TOKENS = 32  # of each stream before generation
_START_SECONDS = 120  # that a server may take to load the model


@dataclass(frozen=True, slots=True)
class BenchConditions:
    """Conditions that are the same for all programs."""

    model: Path
    threads: int
    options: BenchOptions

    @property
    def context(self) -> int:
        """Tokens for one mind, with a reserve.

        The history is generated as text, and its number of tokens depends on the model.
        """
        return self.options.history * 3 // 2 + 1024


async def measure_bare_decode(conditions: BenchConditions) -> Written:
    """Return the speed of a Python loop that only calls `llama_decode`."""
    options = conditions.options
    arguments = _baseline_arguments("bare", conditions, options.streams, options.tokens)
    one, many = json.loads(await _read_output(sys.executable, *arguments))
    return Written(one=one, many=many)


async def measure_batched_bench(program: Path, conditions: BenchConditions) -> Written:
    """Return the speed of llama-batched-bench. Raises EngineStartError if it cannot be run."""
    options = conditions.options
    arguments = {
        "-m": conditions.model,
        "-c": 512 * options.streams,
        "-t": conditions.threads,
        "-npp": _PROMPT_TOKENS,
        "-ntg": options.tokens,
        "-npl": f"1,{options.streams}",
        "--output-format": "jsonl",
    }
    lines = (await _read_output(program, *_flatten(arguments))).splitlines()
    runs = map(json.loads, filter(_is_json, lines))
    speeds = {run["pl"]: float(run["speed_tg"]) for run in runs}
    if set(speeds) != {1, options.streams}:
        raise EngineStartError(
            f"{program} printed no results. Check that it is llama-batched-bench."
        )
    return Written(one=speeds[1], many=speeds[options.streams])


async def measure_alone(conditions: BenchConditions) -> Figures:
    """Return the rotation time of llama-cpp-python's `Llama` with sequential requests."""
    options = conditions.options
    arguments = _baseline_arguments("alone", conditions, options.streams, options.history)
    output = await _read_output(sys.executable, *arguments)
    return Figures(name=ALONE, streams=options.streams, rotation=json.loads(output))


@dataclass
class Decoder:
    """The program for pure decoding speed: llama-batched-bench, or a Python loop without it."""

    conditions: BenchConditions
    batched_bench: Path | None
    _written: list[Written] = field(default_factory=list)

    async def measure_generation(self) -> None:
        """Measure the generation speed once more."""
        if self.batched_bench:
            speed = await measure_batched_bench(self.batched_bench, self.conditions)
        else:
            speed = await measure_bare_decode(self.conditions)
        self._written.append(speed)

    def figures(self) -> Figures:
        """Return all measurements."""
        name = BATCHED if self.batched_bench else BARE
        streams = self.conditions.options.streams
        return Figures(name=name, streams=streams, written=tuple(self._written))


@contextlib.asynccontextmanager
async def run_llama_server(
    program: Path, conditions: BenchConditions
) -> AsyncIterator[RemoteEngine]:
    """Run a llama-server on loopback and yield a started engine that uses it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    streams = conditions.options.streams
    arguments = {
        "-m": conditions.model,
        "-np": streams,
        "-c": conditions.context * streams,
        "-t": conditions.threads,
        "--host": "127.0.0.1",
        "--port": port,
    }
    process = await _start_process(program, *_flatten(arguments))
    remote = RemoteEngine(
        RemoteOptions(base_url=(f"http://127.0.0.1:{port}/v1",), context=conditions.context)
    )
    drain = asyncio.create_task(process.communicate())
    try:
        await _wait_until_ready(remote, process)
        yield remote
    finally:
        await remote.close()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await drain


async def _wait_until_ready(remote: RemoteEngine, process: asyncio.subprocess.Process) -> None:
    for _ in range(_START_SECONDS):
        try:
            return await remote.start()
        except EngineStartError:
            if process.returncode is not None:
                break
            await asyncio.sleep(1)
    raise EngineStartError("The given llama-server did not start.")


def _baseline_arguments(
    baseline: str, conditions: BenchConditions, *numbers: int
) -> tuple[str, ...]:
    model = str(conditions.model)
    threads = str(conditions.threads)
    return ("-m", "bot.bench.llama_baseline", baseline, model, threads, *map(str, numbers))


def _is_json(line: bytes) -> bool:
    return line.startswith(b"{")


def _flatten(arguments: dict[str, object]) -> list[str]:
    return [str(word) for pair in arguments.items() for word in pair]


async def _read_output(program: Path | str, *arguments: str) -> bytes:
    """Run a program and return its standard output. Raises EngineStartError if it fails."""
    process = await _start_process(program, *arguments)
    try:
        output, _ = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    if process.returncode:
        raise EngineStartError(f"{program} failed with status {process.returncode}.")
    return output


async def _start_process(program: Path | str, *arguments: str) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            str(program),
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=worker_environment(),  # the same OpenMP settings for all programs
        )
    except OSError as error:
        raise EngineStartError(f"{program} cannot be run ({error.strerror or error}).") from error
