"""`aside bench engine`: the local engine beside what it is held against, all in one run."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.bench import reference_programs
from bot.bench.measure import BenchOptions, Measuring
from bot.bench.report import OURS, SERVER, EngineReport
from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.weights import find_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TURNS = 3  # of writing in each round: it is over soon, and the machine may be busy just then


@dataclass(frozen=True, slots=True)
class Programs:
    """llama.cpp's own programs to measure beside, where there are any."""

    server: Path | None = None  # llama-server
    batched_bench: Path | None = None  # llama-batched-bench


async def bench_engine(
    model: str,
    course: BenchOptions | None = None,
    programs: Programs | None = None,
    *,
    threads: int | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> EngineReport:
    """Measure the local engine with `model`, the baselines, and llama.cpp's own programs where given.

    All sides take turns, those that only write many short ones, so that a machine that is busy for a while is so for
    all. `told` hears how far it is. Raises what starting an engine raises.
    """
    course, programs = course or BenchOptions(), programs or Programs()
    path = (await asyncio.to_thread(find_model.resolve, model)).path
    grounds = reference_programs.BenchConditions(path, threads or _threads(), course)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    decoder = reference_programs.Decoder(grounds, programs.batched_bench)
    async with AsyncExitStack() as stack:
        engine = LocalEngine(
            LocalOptions(
                model=model,
                context=grounds.context,
                minds=course.streams,
                threads=grounds.threads,
                cache_type="f16",
            )
        )
        stack.push_async_callback(engine.close)
        await engine.start()
        sides = [Measuring(engine, course, OURS)]
        if programs.server:
            remote = await stack.enter_async_context(
                reference_programs.serving(programs.server, grounds)
            )
            sides.append(Measuring(remote, course, SERVER))
        for turn in range(course.rounds):
            told(f"round {turn + 1} of {course.rounds}: writing")
            for writing in range(_TURNS):
                pair = (sides[0], decoder)
                for side in pair[:: -1 if writing % 2 else 1]:  # neither is always the first
                    await side.write()
            for rival in sides[1:]:
                await rival.write()
            for side in sides:
                told(f"round {turn + 1} of {course.rounds}: reading and coming back, {side.name}")
                await side.remember(turn)
        info = engine.info
    told("Llama, one request at a time")
    figures = [
        *(side.figures() for side in sides),
        decoder.figures(),
        await reference_programs.alone(grounds),
    ]
    return EngineReport(
        model=info.model,
        device=info.device,
        history=course.history,
        rounds=course.rounds,
        load=load,
        figures=tuple(figures),
    )


def _threads() -> int:
    """One for each processor this process may use."""
    return max(
        1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    )
