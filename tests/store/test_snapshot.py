"""A copy of the database while it is in use."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from bot.errors import StoreError
from bot.store.snapshot import open_snapshot
from bot.store.store import Store
from tests.store.conftest import say

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene


async def test_the_copy_has_the_story_while_the_bot_runs(
    store: Store, scene: Scene, path: Path
) -> None:
    await say(store, scene)
    async with open_snapshot(path) as snapshot:
        assert len(await snapshot.turns(scene.id)) == 1
        await say(store, scene)
        assert len(await snapshot.turns(scene.id)) == 1


async def test_the_original_stays_byte_for_byte_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "aside.db"
    async with await Store.open(path):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        before = path.read_bytes()
    async with open_snapshot(path) as snapshot:
        assert await snapshot.latest_scenes(5) == []
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [None, b"no database" * 100])
async def test_a_database_that_is_missing_or_damaged_is_an_error(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "aside.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreError, match=r"aside\.db"):
        async with open_snapshot(path):
            pass
    assert (path.read_bytes() if path.exists() else None) == content
