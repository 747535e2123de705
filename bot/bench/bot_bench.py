"""Measures the bot itself: how many turns it manages, how long its loop stalls, and what idle scenes weigh."""

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

from bot.bench.fakes import NullDelivery, RecitingEngine
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

_TICK = 0.002  # seconds
_TOKEN_EVERY = 0.02  # seconds: 50 tokens a second for each stream, as a graphics card writes
_GM, _PLAYER = 1, 2
_MEGABYTE = 10**6


@dataclass(frozen=True, slots=True)
class BotBenchOptions:
    """What the bot is given to do."""

    scenes: int = 1000  # that are idle
    streams: int = 8
    rounds: int = 5  # of one turn in each of the streams


class BotReport(BaseModel):
    """What was measured of the bot."""

    model_config = ConfigDict(frozen=True)

    turns: float  # a second, with replies that come at once
    stall: float  # seconds: the longest the event loop was held up while all streams were written
    stall_work: (
        float  # seconds of it in which this process worked, and did not wait for a processor
    )
    streams: int
    memory: (
        int | None
    )  # bytes of this process with its idle scenes; None where the system can't tell
    scenes: int

    @computed_field  # type: ignore[prop-decorator] # mypy knows no decorated properties
    @property
    def targets(self) -> tuple[Target, ...]:
        """What was promised of the bot."""
        targets = [
            Target(what="longest stall, seconds", wanted=0.05, measured=self.stall, at_most=True)
        ]
        if self.memory is not None:
            measured = self.memory / _MEGABYTE
            targets.append(
                Target(
                    what="memory with idle scenes, MB",
                    wanted=150.0,
                    measured=measured,
                    at_most=True,
                )
            )
        return tuple(targets)


@dataclass
class Watch:
    """Looks at the event loop every two milliseconds, and remembers the longest that it was late."""

    late: float = 0.0
    worked: float = 0.0
    _looking: asyncio.Task[None] | None = field(default=None, repr=False)

    async def __aenter__(self) -> Self:
        self._looking = asyncio.create_task(self._look(), name="watch")
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._looking is not None  # noqa: S101 - it was entered
        self._looking.cancel()
        await asyncio.wait((self._looking,))

    async def _look(self) -> None:
        while True:
            began, working = time.perf_counter(), time.thread_time()
            await asyncio.sleep(_TICK)
            late = time.perf_counter() - began - _TICK
            if late > self.late:
                self.late, self.worked = late, time.thread_time() - working


async def bench_bot(
    scenario: Scenario, evening: BotBenchOptions | None = None, engine: Engine | None = None
) -> BotReport:
    """Play an evening of `scenario` with an engine that recites, or with a started `engine` in its place."""
    evening = evening or BotBenchOptions()
    with tempfile.TemporaryDirectory(prefix="aside-bench-") as folder:
        path = Path(folder) / "aside.db"
        await _fill(path, scenario, evening.scenes)
        async with _house(path, RecitingEngine()) as house:
            memory = _memory()
            began = time.perf_counter()
            for _ in range(evening.rounds):
                await house.turn(evening.streams)
            turns = evening.rounds * evening.streams / (time.perf_counter() - began)
        async with _house(path, engine or RecitingEngine(_TOKEN_EVERY)) as house, Watch() as watch:
            await house.turn(evening.streams)
    return BotReport(
        turns=turns,
        stall=watch.late,
        stall_work=watch.worked,
        streams=evening.streams,
        memory=memory,
        scenes=evening.scenes,
    )


@dataclass
class _House:
    theatre: Theatre
    hearing: PlayerLines
    stage: NullDelivery

    async def turn(self, streams: int) -> None:
        """Have somebody speak in so many scenes at once, and wait until all are answered. Raises NoWords where one
        was not."""
        before = self.stage.delivered
        await asyncio.gather(*(self._turn(scene) for scene in self.theatre.scenes()[:streams]))
        if self.stage.delivered - before < streams:
            raise EmptyReply("Not every line was answered, so nothing was measured.")

    async def _turn(self, scene: Scene) -> None:
        line = IncomingLine(_PLAYER, "Alice", time.time_ns(), "*sits down* You sent for me?")
        await self.hearing.hear(scene, line, Addressee((scene.parts[0].character,)))
        running = self.theatre.running(scene.id)
        assert running is not None  # noqa: S101 - nobody ends a scene here
        await running.runner.rest()


@asynccontextmanager
async def _house(path: Path, engine: Engine) -> AsyncIterator[_House]:
    """The bot as it is when every stored scene has been taken up: Discord's side of it is there and not online."""
    from bot.app import create_bot

    bot = create_bot(Settings(), engine=engine)
    performance = ReplyGenerator(engine, ReplyLimits(), lambda: secrets.randbits(32))
    async with await Store.open(path) as store:
        stage = NullDelivery()
        theatre = Theatre(store, stage, performance, _now)
        await theatre.open()
        try:
            yield _House(theatre, PlayerLines(theatre, store, store, _now), stage)
        finally:
            await theatre.close()
            await bot.close()


async def _fill(path: Path, scenario: Scenario, scenes: int) -> None:
    """Store so many scenes under way."""
    parts: Sequence[Part] = [Part(character.name) for character in scenario.characters]
    async with await Store.open(path) as store:
        for number in range(1, scenes + 1):
            await store.add_scene(Place(1, number), scenario, (_GM,), parts, _now())


def _memory() -> int | None:
    """Bytes of main memory that this process takes now."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) * 1024


def _now() -> datetime:
    return datetime.now(UTC)
