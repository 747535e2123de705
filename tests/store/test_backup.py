"""Backups: written while the bot runs, checked, restored and compared."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from bot.errors import StoreError
from bot.scenes.posts import PersonaWebhook
from bot.store.backup import (
    delete_old_backups,
    list_backups,
    restore_backup,
    vacuum,
    write_backup,
)
from bot.store.database_lock import DatabaseInUse
from bot.store.store import Store
from tests.store.conftest import begin, from_outside, say

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene

TOKEN = "webhook-token-that-nobody-may-read"


async def test_a_backup_of_a_running_bot_restores_to_the_same_story(
    store: Store, scene: Scene, path: Path, tmp_path: Path
) -> None:
    await say(store, scene)
    story = await store.turns(scene.id)
    made = write_backup(path, tmp_path / "backups" / "one.db")
    await say(store, scene)
    with pytest.raises(DatabaseInUse):
        restore_backup(made.path, path)
    await store.close()
    kept = restore_backup(made.path, path)
    async with await Store.open(path) as restored:
        assert await restored.turns(scene.id) == story
    assert kept is not None
    async with await Store.open(kept) as earlier:
        assert len(await earlier.turns(scene.id)) == 2


async def test_a_backup_has_no_webhook_token(store: Store, path: Path, tmp_path: Path) -> None:
    await store.save_webhook(PersonaWebhook(1, TOKEN, 500, "Mr Bennet"))
    made = write_backup(path, tmp_path / "one.db")
    assert TOKEN.encode() not in made.path.read_bytes()
    assert len(await store.webhooks(500)) == 1


async def test_the_log_of_the_earlier_database_is_not_merged_into_the_restored_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "aside.db"
    async with await Store.open(path) as store:
        await begin(store)
        made = write_backup(path, tmp_path / "one.db")
        await begin(store, channel=501)
        log = path.with_name("aside.db-wal").read_bytes()
    path.with_name("aside.db-wal").write_bytes(log)  # as after a crash
    kept = restore_backup(made.path, path)
    async with await Store.open(path) as restored:
        assert len(await restored.open_scenes()) == 1
    assert kept is not None
    assert kept.with_name(f"{kept.name}-wal").read_bytes() == log


@pytest.mark.parametrize("content", [b"", b"no database" * 1000])
def test_a_file_that_is_no_backup_changes_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "aside.db"
    path.write_bytes(b"precious")
    (tmp_path / "one.db").write_bytes(content)
    with pytest.raises(StoreError, match=r"one\.db"):
        restore_backup(tmp_path / "one.db", path)
    with pytest.raises(StoreError, match=r"none\.db does not exist"):
        restore_backup(tmp_path / "none.db", path)
    assert {file.name for file in tmp_path.iterdir()} <= {"aside.db", "one.db", "aside.db.lock"}
    assert path.read_bytes() == b"precious"


async def test_a_newer_backup_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "aside.db"
    async with await Store.open(path):
        made = write_backup(path, tmp_path / "one.db")
    from_outside(made.path, "PRAGMA user_version = 9999")
    with pytest.raises(StoreError, match="newer"):
        restore_backup(made.path, tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()


async def test_an_existing_file_is_never_overwritten(store: Store, path: Path) -> None:
    assert store is not None
    with pytest.raises(StoreError, match="exists already"):
        write_backup(path, path)


def test_a_missing_database_gives_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        write_backup(tmp_path / "aside.db", tmp_path / "one.db")
    assert list(tmp_path.iterdir()) == []


def test_only_the_latest_backups_stay(tmp_path: Path) -> None:
    names = [f"aside-2026120{day}-000000.db" for day in range(1, 6)]
    for name in (*names, "aside.db", "other.db"):
        (tmp_path / name).touch()
    deleted = delete_old_backups(tmp_path, 2)
    assert [file.name for file in deleted] == names[:3]
    assert [file.name for file in list_backups(tmp_path)] == names[3:]
    assert (tmp_path / "aside.db").exists()


async def test_vacuum_shrinks_a_database_that_no_bot_uses(
    store: Store, scene: Scene, path: Path
) -> None:
    for _ in range(3):
        await say(store, scene)
    with pytest.raises(DatabaseInUse):
        vacuum(path)
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE big AS SELECT zeroblob(1000000) AS data")
        connection.execute("DROP TABLE big")
        connection.commit()
    before, after = vacuum(path)
    assert after < before - 900_000
    async with await Store.open(path) as reopened:
        assert len(await reopened.turns(scene.id)) == 3
