"""`aside bench memory`: measures replies in scenes of different lengths, without a model.

It shows whether a reply costs more in a long scene: turns read from the database, time, stalls of
the event loop, main memory, and tokens that the engine reads.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
import tracemalloc
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, computed_field

from bot.bench.bot_bench import LoopMonitor
from bot.bench.counting_store import CountingStore
from bot.bench.fakes import CachingEngine, NullDelivery
from bot.bench.long_scene import store_turns
from bot.bench.report import Target, median
from bot.errors import EmptyReply
from bot.scenes.director import Addressee
from bot.scenes.player_lines import IncomingLine, PlayerLines
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.scene import Part, Place
from bot.scenes.theatre import Theatre

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.library.scenario import Scenario
    from bot.scenes.scene import Scene

_GM = 1
_PLAYER = 2
_RECENT_MESSAGES = 100  # that are compared with the channel after a restart


@dataclass(frozen=True, slots=True)
class MemoryBenchOptions:
    """Size of the benchmark."""

    lengths: tuple[int, ...] = (100, 1_000, 10_000)  # turns of the scenes, the shortest first
    replies: int = 20  # measured in each scene
    context: int = 8192  # tokens of the engine


class LengthFigures(BaseModel):
    """Measurements in a scene of one length. Times are in seconds, and medians."""

    model_config = ConfigDict(frozen=True)

    length: int  # turns in the scene before the measurement
    opening: float  # from the opened database until the scene can be played
    reply: float  # from a player's line to its delivered reply, with an engine that takes no time
    stall: float  # longest stall of the event loop
    memory: int  # bytes of Python objects at the peak of a reply
    turns_read: float  # turns that were read from the database for a reply, the next one's included
    tokens_read: float  # prompt tokens that were not in the engine's cache
    prompt_tokens: float


class MemoryReport(BaseModel):
    """Results of the benchmark, the shortest scene first."""

    model_config = ConfigDict(frozen=True)

    figures: tuple[LengthFigures, ...]

    @computed_field  # type: ignore[prop-decorator] # mypy does not support decorated properties
    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets for the longest scene. Ratios are relative to the shortest scene."""
        short, long = self.figures[0], self.figures[-1]
        wanted = (
            ("Seconds to open the longest scene", 0.1, long.opening),
            ("Longest event loop stall in seconds", 0.05, long.stall),
            ("Memory of a reply relative to the shortest scene", 1.5, long.memory / short.memory),
            ("Time of a reply relative to the shortest scene", 1.5, long.reply / short.reply),
        )
        return tuple(
            Target(what=what, wanted=value, measured=measured, at_most=True)
            for what, value, measured in wanted
        )


async def bench_memory(
    scenario: Scenario, options: MemoryBenchOptions | None = None
) -> MemoryReport:
    """Play replies in stored scenes of several lengths and measure them.

    Raises EmptyReply if a player's line gets no reply.
    """
    options = options or MemoryBenchOptions()
    figures = []
    with tempfile.TemporaryDirectory(prefix="aside-bench-") as folder:
        for length in options.lengths:
            path = Path(folder) / f"{length}.db"
            await _create_scene(path, scenario, length)
            figures.append(await _measure(path, length, options))
    return MemoryReport(figures=tuple(figures))


async def _create_scene(path: Path, scenario: Scenario, length: int) -> None:
    parts: Sequence[Part] = [Part(character.name) for character in scenario.characters]
    async with await CountingStore.open(path) as store:
        scene = await store.add_scene(Place(1, 1), scenario, (_GM,), parts, _now())
    await asyncio.to_thread(store_turns, path, scene.id, 1, scenario, length)


async def _measure(path: Path, length: int, options: MemoryBenchOptions) -> LengthFigures:
    engine = CachingEngine(options.context)
    generator = ReplyGenerator(engine, ReplyLimits(), lambda: secrets.randbits(32))
    delivery = NullDelivery()
    async with LoopMonitor() as monitor, await CountingStore.open(path) as store:
        started = time.perf_counter()
        theatre = Theatre(store, delivery, generator, _now, describe_error=str)
        lines = PlayerLines(theatre, store, _now)
        await theatre.open()
        scene = theatre.scenes()[0]
        await store.find_shown_messages(scene.id, _RECENT_MESSAGES)
        await store.find_outdated_turns()
        opening = time.perf_counter() - started
        try:
            await _play(theatre, lines, scene, 0)  # the first prompt is read as a whole
            engine.forget_counts()
            store.turns_read = 0
            times = [
                await _play(theatre, lines, scene, number)
                for number in range(1, options.replies + 1)
            ]
            stall = monitor.longest_stall  # tracing slows the next reply down
            read = store.turns_read / options.replies
            memory = await _trace(theatre, lines, scene, options.replies + 1)
        finally:
            await theatre.close()
    if delivery.delivered < options.replies + 2:
        raise EmptyReply("A line got no reply, so the measurement is invalid.")
    return LengthFigures(
        length=length,
        opening=opening,
        reply=median(times) or 0.0,
        stall=stall,
        memory=memory,
        turns_read=read,
        tokens_read=engine.tokens_read / engine.replies,
        prompt_tokens=engine.prompt_tokens / engine.replies,
    )


async def _play(theatre: Theatre, lines: PlayerLines, scene: Scene, number: int) -> float:
    """Send a player's line to one of the characters. Return the seconds until the reply."""
    part = scene.parts[number % len(scene.parts)]
    line = IncomingLine(_PLAYER, "Alice", time.time_ns(), "*sits down* You sent for me?")
    started = time.perf_counter()
    await lines.hear(scene, line, Addressee((part.character,)))
    running = theatre.find_running(scene.id)
    assert running is not None  # noqa: S101 - the scene does not end here
    await running.runner.wait_until_idle()
    return time.perf_counter() - started


async def _trace(theatre: Theatre, lines: PlayerLines, scene: Scene, number: int) -> int:
    """Return the peak of Python's memory during a reply, in bytes."""
    tracemalloc.start()
    try:
        await _play(theatre, lines, scene, number)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _now() -> datetime:
    return datetime.now(UTC)
