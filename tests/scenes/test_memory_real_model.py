"""Memories that the demo model writes under llama.cpp, with a restart in the middle of one."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.bench.long_scene import store_turns
from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.scenes.director import Addressee
from bot.scenes.player_lines import IncomingLine, PlayerLines
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.scene import Place
from bot.scenes.theatre import Theatre
from bot.store.store import Store
from tests.scenes.scene_harness import GM, STUDY, RecordingDelivery
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.scenes.memories import MindMemory

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]

BENNET = "Mr Bennet"
LIMITS = ReplyLimits(max_tokens=120, planning_tokens=16)


def now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_theatre(
    path: Path, engine: LocalEngine, delivery: RecordingDelivery
) -> AsyncIterator[tuple[Theatre, Store]]:
    """Open a theatre. To open it again is a restart of the bot, but not of the model."""
    async with await Store.open(path) as store:
        theatre = Theatre(store, delivery, ReplyGenerator(engine, LIMITS, lambda: 7), now)
        await theatre.open()
        try:
            yield theatre, store
        finally:
            await theatre.close()


async def read_memories(store: Store, scene_id: int) -> list[MindMemory]:
    return await store.memories(scene_id, BENNET)


async def test_a_restart_in_the_middle_of_a_memory_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "aside.db"
    delivery = RecordingDelivery()
    engine = LocalEngine(LocalOptions(context=768, minds=2, threads=1))
    await engine.start()
    try:
        async with open_theatre(path, engine, delivery) as (theatre, _):
            scene = await theatre.start(Place(1, 10), STUDY, GM)
        store_turns(path, scene.id, 7, STUDY, 10)
        async with open_theatre(path, engine, delivery) as (theatre, store):
            lines = PlayerLines(theatre, store, now)
            line = IncomingLine(2, "Alice", 5, "You sent for me, Papa?")
            await lines.hear(scene, line, Addressee((BENNET,)))

            async def is_expected() -> bool:
                return bool(await read_memories(store, scene.id))

            await until(is_expected, within=120)
        async with open_theatre(path, engine, delivery) as (theatre, store):
            assert not all(memory.text for memory in await read_memories(store, scene.id))
            theatre.play_owed()
            running = theatre.find_running(scene.id)
            assert running is not None
            await running.runner.wait_until_remembered()
            memories = await read_memories(store, scene.id)
            assert memories
            assert all(memory.text for memory in memories)
            assert all("<" not in memory.text for memory in memories)
            assert len(delivery.shown) == 1
            assert delivery.faults == []
    finally:
        await engine.close()
