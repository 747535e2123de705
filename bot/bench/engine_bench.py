"""`aside bench engine`: compares the local engine with other programs in one run."""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.bench import reference_programs
from bot.bench.measure import BenchOptions, EngineMeasurement
from bot.bench.report import OURS, SERVER, EngineReport
from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.errors import EngineStartError
from bot.weights import find_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_GENERATION_TURNS = 3  # per round: each is short, and the machine may be busy during one of them


@dataclass(frozen=True, slots=True)
class Programs:
    """Paths of llama.cpp's own programs to compare with, if they are installed."""

    server: Path | None = None  # llama-server
    batched_bench: Path | None = None  # llama-batched-bench

    def require_executable(self) -> None:
        """Raise EngineStartError if one of the programs is missing or not executable."""
        for program in (self.server, self.batched_bench):
            if program is not None and shutil.which(program) is None:
                raise EngineStartError(
                    f"{program} cannot be run. Check that it exists and is executable."
                )


async def bench_engine(
    model: str,
    options: BenchOptions | None = None,
    programs: Programs | None = None,
    *,
    threads: int | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> EngineReport:
    """Measure the local engine with `model`, the baselines, and the given programs.

    All programs take turns, so that a busy machine affects all of them alike. `on_progress` is
    called with a sentence at each step. Raises the errors of `Engine.start`.
    """
    options = options or BenchOptions()
    programs = programs or Programs()
    programs.require_executable()
    path = (await asyncio.to_thread(find_model.find_model, model)).path
    conditions = reference_programs.BenchConditions(path, threads or _count_processors(), options)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    decoder = reference_programs.Decoder(conditions, programs.batched_bench)
    async with AsyncExitStack() as stack:
        measurements = await _start_engines(stack, model, conditions, programs)
        for round_ in range(options.rounds):
            prefix = f"Round {round_ + 1} of {options.rounds}"
            on_progress(f"{prefix}: generation")
            await _measure_generation(measurements, decoder)
            for measurement in measurements:
                on_progress(f"{prefix}: prefill and returning characters, {measurement.name}")
                await measurement.measure_prefill(round_)
        info = measurements[0].engine.info
    on_progress("Llama with sequential requests")
    figures = [
        *(measurement.figures() for measurement in measurements),
        decoder.figures(),
        await reference_programs.measure_alone(conditions),
    ]
    return EngineReport(
        model=info.model,
        device=info.device,
        history=options.history,
        rounds=options.rounds,
        load=load,
        figures=tuple(figures),
    )


async def _start_engines(
    stack: AsyncExitStack,
    model: str,
    conditions: reference_programs.BenchConditions,
    programs: Programs,
) -> list[EngineMeasurement]:
    """Return a measurement of our engine, and one of llama-server if its program is given."""
    options = conditions.options
    engine = LocalEngine(
        LocalOptions(
            model=model,
            context=conditions.context,
            minds=options.streams,
            threads=conditions.threads,
            cache_type="f16",
        )
    )
    stack.push_async_callback(engine.close)
    await engine.start()
    measurements = [EngineMeasurement(engine, options, OURS)]
    if programs.server:
        remote = await stack.enter_async_context(
            reference_programs.run_llama_server(programs.server, conditions)
        )
        measurements.append(EngineMeasurement(remote, options, SERVER))
    return measurements


async def _measure_generation(
    measurements: list[EngineMeasurement], decoder: reference_programs.Decoder
) -> None:
    for turn in range(_GENERATION_TURNS):
        pair = (measurements[0], decoder)
        for program in pair[:: -1 if turn % 2 else 1]:  # take turns in going first
            await program.measure_generation()
    for other in measurements[1:]:
        await other.measure_generation()


def _count_processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 2)
