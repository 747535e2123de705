"""A database that can't be used is refused for its real reason, and no file of it changes."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.errors import StoreError
from bot.store.database import WATCH_INTERVAL, Database
from bot.store.database_check import APPLICATION_ID, check_database
from bot.store.database_lock import DatabaseInUse
from bot.store.store import Store
from tests.store.conftest import NOON, begin, from_outside
from tests.store.test_database_lock import without_rights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bot.scenes.scene import Scene

_NEWEST = 99


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Return the names and contents of everything in a folder."""
    return {
        path.name: path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def make_folder(path: Path) -> None:
    path.mkdir()
    (path / "precious.txt").write_text("keep me")


def make_text(path: Path) -> None:
    path.write_text("Dear diary, " * 1000)


def make_short_text(path: Path) -> None:
    path.write_text("x")


def make_foreign(path: Path) -> None:
    from_outside(path, "CREATE TABLE recipes (title TEXT)")


def make_foreign_with_id(path: Path) -> None:
    from_outside(path, "PRAGMA application_id = 7")


def make_foreign_with_log(path: Path) -> None:
    """Leave the table of another program in a write-ahead log, as after a crash."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "aside.db"
        with closing(sqlite3.connect(source, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA wal_autocheckpoint = 0")
            database.execute("CREATE TABLE recipes (title TEXT)")
            for name in ("aside.db", "aside.db-wal", "aside.db-shm"):
                shutil.copyfile(source.with_name(name), path.with_name(name))


def make_newer(path: Path) -> None:
    from_outside(path, f"PRAGMA application_id = {APPLICATION_ID}")
    from_outside(path, "PRAGMA user_version = 100")
    from_outside(path, "CREATE TABLE news (text TEXT)")


def make_damaged(path: Path) -> None:
    from_outside(path, f"PRAGMA application_id = {APPLICATION_ID}")
    from_outside(path, "CREATE TABLE words (word TEXT)")
    for _ in range(40):
        from_outside(path, f"INSERT INTO words VALUES ('{'x' * 3000}')")
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xff" * 4096 + whole[12288:])


def make_truncated(path: Path) -> None:
    make_damaged(path)
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (make_folder, "is a folder"),
        (make_text, "is not a database of Aside"),
        (make_short_text, "is not a database of Aside"),
        (make_foreign, "is not a database of Aside"),
        (make_foreign_with_id, "is not a database of Aside"),
        (make_foreign_with_log, "is not a database of Aside"),
        (make_newer, r"newer Aside \(schema 100"),
        (make_damaged, "is damaged"),
        (make_truncated, "is damaged"),
    ],
)
async def test_a_refused_database_stays_byte_for_byte_as_it_was(
    tmp_path: Path, make: Callable[[Path], None], reason: str
) -> None:
    path = tmp_path / "aside.db"
    make(path)
    before = snapshot(tmp_path)
    with pytest.raises(StoreError, match=reason):
        check_database(path, _NEWEST)
    with pytest.raises(StoreError, match=reason):
        await Store.open(path)
    assert snapshot(tmp_path) == before


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def assert_refused_unchanged(path: Path, mode: int, folder_mode: int) -> None:
    path.chmod(mode)
    path.parent.chmod(folder_mode)
    before = snapshot(path.parent)
    with without_rights(), pytest.raises(StoreError, match="can't be written"):
        check_database(path, _NEWEST)
    assert snapshot(path.parent) == before


async def test_a_read_only_database_is_refused_unchanged(open_folder: Path) -> None:
    path = open_folder / "aside.db"
    async with await Store.open(path):
        pass
    assert_refused_unchanged(path, 0o444, 0o777)
    assert_refused_unchanged(path, 0o666, 0o555)


def test_a_missing_database_can_be_created_only_in_a_writable_folder(open_folder: Path) -> None:
    path = open_folder / "new" / "aside.db"
    assert check_database(path, _NEWEST) is None
    assert snapshot(open_folder) == {}
    (open_folder / "file").touch()
    with pytest.raises(StoreError, match="can't be opened"):
        check_database(open_folder / "file" / "aside.db", _NEWEST)
    open_folder.chmod(0o555)
    with without_rights(), pytest.raises(StoreError, match="can't be written"):
        check_database(path, _NEWEST)


async def test_a_good_database_passes_unchanged(path: Path) -> None:
    async with await Store.open(path) as store:
        await begin(store)
    before = snapshot(path.parent)
    assert check_database(path, _NEWEST) == len(before["aside.db"] or b"")
    assert snapshot(path.parent) == before


async def test_a_database_with_a_log_after_a_crash_passes_unchanged(
    path: Path, tmp_path: Path, store: Store, scene: Scene
) -> None:
    crashed = tmp_path / "crashed"
    shutil.copytree(path.parent, crashed)
    before = snapshot(crashed)
    assert before["aside.db-wal"]
    assert check_database(crashed / "aside.db", _NEWEST)
    assert snapshot(crashed) == before
    async with await Store.open(crashed / "aside.db") as reopened:
        assert await reopened.scene(scene.id) == scene
    assert await store.scene(scene.id) == scene


async def test_a_database_in_use_is_reported_as_in_use(store: Store, path: Path) -> None:
    await begin(store)
    before = snapshot(path.parent)
    with pytest.raises(DatabaseInUse, match="Another Aside is running"):
        check_database(path, _NEWEST)
    assert snapshot(path.parent) == before


def move_away(path: Path, *, replaced: bool) -> None:
    path.rename(path.with_name("elsewhere.db"))
    if replaced:
        path.touch()


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_database_file_that_vanishes_is_noticed(
    store: Store, path: Path, replaced: bool
) -> None:
    scene = await begin(store)
    move_away(path, replaced=replaced)
    with pytest.raises(StoreError, match="was deleted or replaced while Aside was running"):
        await store.save_scene(scene, NOON)


async def test_a_vanished_file_is_logged_while_there_is_nothing_to_store(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert WATCH_INTERVAL <= 60
    database = await Database.open(path, watch_interval=0.01)
    move_away(path, replaced=False)
    for _ in range(200):
        if caplog.text:
            break
        await asyncio.sleep(0.01)
    assert "was deleted or replaced" in caplog.text
    await database.close()


_NO_LOCKS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <dlfcn.h>
static int refuse(const char *name, int fd, int command, void *argument) {
    int (*real)(int, int, void *) = (int (*)(int, int, void *)) dlsym(RTLD_NEXT, name);
    if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) {
        errno = ENOLCK;
        return -1;
    }
    return real(fd, command, argument);
}
#define FORWARD(name) int name(int fd, int command, ...) { \
    va_list list; va_start(list, command); \
    void *argument = va_arg(list, void *); va_end(list); \
    return refuse(#name, fd, command, argument); }
FORWARD(fcntl)
FORWARD(fcntl64)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("gcc") is None, reason="needs Linux and gcc"
)
def test_a_file_system_without_locks_is_named_as_such(tmp_path: Path) -> None:
    source, library = tmp_path / "locks.c", tmp_path / "locks.so"
    source.write_text(_NO_LOCKS)
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    script = (
        "from pathlib import Path\n"
        "from bot.store.database_lock import DatabaseLock\n"
        f"DatabaseLock(Path({str(tmp_path / 'aside.db')!r}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "has no file locks" in done.stderr
    assert "Another Aside" not in done.stderr
