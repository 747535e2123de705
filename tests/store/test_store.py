from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

from bot.store.store import Store
from tests.store.conftest import NOON, begin, narrate

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.posts import Posts
    from bot.scenes.scene_store import SceneStore

WRITER = """
import asyncio, sys
from pathlib import Path
from bot.store.store import Store
from tests.store.conftest import NOON, a_line, begin, narrate

async def write(path):
    store = await Store.open(path)
    scene = await begin(store)
    message = 0
    while True:
        message += 1
        await store.add_line(scene.id, a_line(message=message), ("Mr Bennet",), NOON)
        print(message, flush=True)

asyncio.run(write(Path(sys.argv[1])))
"""

FORGETFUL = """
import asyncio, sys
from pathlib import Path
from bot.store.store import Store

async def fail(path):
    async with await Store.open(path):
        raise SystemExit(7)

asyncio.run(fail(Path(sys.argv[1])))
"""


async def test_the_store_implements_the_protocols_of_scenes(store: Store) -> None:
    scenes: SceneStore = store
    posts: Posts = store
    assert await scenes.open_scenes() == []
    assert await posts.posts(1) == []


async def test_committed_data_survives_a_killed_process(path: Path) -> None:
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, path, stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout is not None
    told = [int(await writer.stdout.readline()) for _ in range(20)]
    writer.kill()
    told += [int(line) async for line in writer.stdout if line.endswith(b"\n")]
    await writer.wait()
    async with await Store.open(path) as store:
        (scene,) = await store.open_scenes()
        stored = [turn.message_id for turn in await store.turns(scene.id) if turn.message_id]
        assert stored[: len(told)] == told
        (owed,) = await store.find_owed_turns(scene.id)
        assert len(owed.answered) == len(stored)


def test_a_program_that_fails_with_an_open_store_exits(path: Path) -> None:
    assert (
        subprocess.run([sys.executable, "-c", FORGETFUL, path], timeout=20, check=False).returncode
        == 7
    )


async def test_a_closed_store_can_be_opened_again(path: Path) -> None:
    for channel in range(3):
        async with await Store.open(path) as store:
            await begin(store, channel)
    async with await Store.open(path) as store:
        assert len(await store.open_scenes()) == 3
        await narrate(store, 1, "It rains.", None, NOON)
