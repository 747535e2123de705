"""`aside bench bot`: measures the bot without a model.

It measures turns per second, stalls of the event loop, and memory with many idle scenes.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, computed_field

from bot.bench.fakes import FixedReplyEngine, NullDelivery
from bot.bench.report import Target
from bot.errors import EmptyReply
from bot.scenes.director import Addressee
from bot.scenes.player_lines import IncomingLine, PlayerLines
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.scene import Part, Place
from bot.scenes.theatre import Theatre
from bot.settings import Settings
from bot.store.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from bot.engine.protocol import Engine
    from bot.library.scenario import Scenario
    from bot.scenes.scene import Scene

_CHECK_SECONDS = 0.002  # between two checks of the event loop
_TOKEN_SECONDS = 0.02  # 50 tokens per second and stream, about the speed of a GPU
_GM = 1
_PLAYER = 2
_MEGABYTE = 10**6


@dataclass(frozen=True, slots=True)
class BotBenchOptions:
    """Size of the benchmark."""

    scenes: int = 1000  # idle scenes
    streams: int = 8
    rounds: int = 5  # each has one turn per stream


class BotReport(BaseModel):
    """Results of the benchmark."""

    model_config = ConfigDict(frozen=True)

    turns: float  # per second, with an engine that takes no time
    stall: float  # longest stall of the event loop in seconds, while all streams generate
    stall_work: float  # CPU seconds of this thread within that stall
    streams: int
    memory: int | None  # bytes of this process with the idle scenes; None if unknown
    scenes: int

    @computed_field  # type: ignore[prop-decorator] # mypy does not support decorated properties
    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets for which there are measurements."""
        targets = [
            Target(
                what="Longest event loop stall in seconds",
                wanted=0.05,
                measured=self.stall,
                at_most=True,
            )
        ]
        if self.memory is not None:
            measured = self.memory / _MEGABYTE
            targets.append(
                Target(
                    what=f"Memory in MB with {self.scenes:,} idle scenes",
                    wanted=150.0,
                    measured=measured,
                    at_most=True,
                )
            )
        return tuple(targets)


@dataclass
class LoopMonitor:
    """Checks the event loop every two milliseconds and records its longest stall."""

    longest_stall: float = 0.0  # seconds
    stall_work: float = 0.0  # CPU seconds of this thread within that stall
    _task: asyncio.Task[None] | None = field(default=None, repr=False)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._check(), name="event loop monitor")
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._task is not None  # noqa: S101 - set on entry
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _check(self) -> None:
        while True:
            started = time.perf_counter()
            cpu_started = time.thread_time()
            await asyncio.sleep(_CHECK_SECONDS)
            stall = time.perf_counter() - started - _CHECK_SECONDS
            if stall > self.longest_stall:
                self.longest_stall = stall
                self.stall_work = time.thread_time() - cpu_started


async def bench_bot(
    scenario: Scenario, options: BotBenchOptions | None = None, engine: Engine | None = None
) -> BotReport:
    """Play `scenario` in many scenes and measure the bot.

    A started `engine` replaces the fixed replies while stalls are measured.
    Raises EmptyReply if a player's line gets no reply.
    """
    options = options or BotBenchOptions()
    with tempfile.TemporaryDirectory(prefix="aside-bench-") as folder:
        path = Path(folder) / "aside.db"
        await _create_scenes(path, scenario, options.scenes)
        async with _run_bot(path, FixedReplyEngine()) as running_bot:
            memory = _read_memory()
            started = time.perf_counter()
            for _ in range(options.rounds):
                await running_bot.play_turns(options.streams)
            turns = options.rounds * options.streams / (time.perf_counter() - started)
        slow_engine = engine or FixedReplyEngine(_TOKEN_SECONDS)
        async with _run_bot(path, slow_engine) as running_bot, LoopMonitor() as monitor:
            await running_bot.play_turns(options.streams)
    return BotReport(
        turns=turns,
        stall=monitor.longest_stall,
        stall_work=monitor.stall_work,
        streams=options.streams,
        memory=memory,
        scenes=options.scenes,
    )


@dataclass
class _RunningBot:
    theatre: Theatre
    player_lines: PlayerLines
    delivery: NullDelivery

    async def play_turns(self, streams: int) -> None:
        """Send a player's line to `streams` scenes at once and wait for all replies.

        Raises EmptyReply if one is missing.
        """
        before = self.delivery.delivered
        await asyncio.gather(*(self._play_turn(scene) for scene in self.theatre.scenes()[:streams]))
        if self.delivery.delivered - before < streams:
            raise EmptyReply("A line got no reply, so the measurement is invalid.")

    async def _play_turn(self, scene: Scene) -> None:
        line = IncomingLine(_PLAYER, "Alice", time.time_ns(), "*sits down* You sent for me?")
        await self.player_lines.hear(scene, line, Addressee((scene.parts[0].character,)))
        running = self.theatre.find_running(scene.id)
        assert running is not None  # noqa: S101 - the scene does not end here
        await running.runner.wait_until_idle()


@asynccontextmanager
async def _run_bot(path: Path, engine: Engine) -> AsyncIterator[_RunningBot]:
    """Open all stored scenes, next to a complete Discord bot that is not connected."""
    from bot.app import create_bot

    bot = create_bot(Settings(), engine=engine)
    generator = ReplyGenerator(engine, ReplyLimits(), lambda: secrets.randbits(32))
    async with await Store.open(path) as store:
        delivery = NullDelivery()
        theatre = Theatre(store, delivery, generator, _now, describe_error=str)
        await theatre.open()
        try:
            yield _RunningBot(theatre, PlayerLines(theatre, store, _now), delivery)
        finally:
            await theatre.close()
            await bot.close()


async def _create_scenes(path: Path, scenario: Scenario, scenes: int) -> None:
    parts: Sequence[Part] = [Part(character.name) for character in scenario.characters]
    async with await Store.open(path) as store:
        for number in range(1, scenes + 1):
            await store.add_scene(Place(1, number), scenario, (_GM,), parts, _now())


def _read_memory() -> int | None:
    """Return the resident memory of this process in bytes, or None if the system has no /proc."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) * 1024


def _now() -> datetime:
    return datetime.now(UTC)
