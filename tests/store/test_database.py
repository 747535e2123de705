from __future__ import annotations

import asyncio
import errno
import sqlite3
import threading
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.errors import StoreError
from bot.store import sqlite_errors
from bot.store.database import Database
from tests.store.conftest import from_outside
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Database]:
    database = await Database.open(path, patience=0.05)
    try:
        async with database.transaction() as transaction:
            await transaction.execute("CREATE TABLE IF NOT EXISTS words (word TEXT NOT NULL)")
        yield database
    finally:
        await database.close()


async def words(database: Database) -> list[object]:
    async with database.read() as reading:
        return [row["word"] for row in await reading.rows("SELECT word FROM words ORDER BY rowid")]


async def store_words(database: Database, *several: str | None) -> None:
    async with database.transaction() as transaction:
        for word in several:
            await transaction.insert("INSERT INTO words VALUES (?)", word)


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def content(path: Path) -> bytes:
    return path.read_bytes()


async def sentence_of_opening(path: Path) -> str:
    """Return the error of opening an unusable database. The attempt must leave no thread behind."""
    before = threading.active_count()
    with pytest.raises(StoreError) as caught:
        await Database.open(path, patience=0.05)
    await asyncio.sleep(0.05)
    assert threading.active_count() <= before + 1  # asyncio.to_thread keeps one for the next call
    sentence = str(caught.value)
    assert str(path) in sentence
    assert sentence.endswith(".")
    return sentence


async def test_committed_data_is_on_disk_and_readable_by_other_programs(path: Path) -> None:
    async with opened(path) as database:
        await store_words(database, "Papa")
        assert from_outside(path, "SELECT word FROM words") == [("Papa",)]
        async with database.read() as reading:
            assert await reading.value("PRAGMA journal_mode") == "wal"
            assert await reading.value("PRAGMA synchronous") == 2  # FULL
            assert await reading.value("PRAGMA foreign_keys") == 1


async def test_a_failed_transaction_is_rolled_back(path: Path) -> None:
    async with opened(path) as database:
        with pytest.raises(StoreError):
            await store_words(database, "lost", None)
        await store_words(database, "kept")
        assert await words(database) == ["kept"]


async def test_a_cancelled_transaction_is_rolled_back_and_blocks_no_other(
    path: Path,
) -> None:
    async with opened(path) as database:
        inside = asyncio.Event()

        async def dawdle() -> None:
            async with database.transaction() as transaction:
                await transaction.insert("INSERT INTO words VALUES ('lost')")
                inside.set()
                await asyncio.sleep(60)

        task = asyncio.create_task(dawdle())
        await inside.wait()
        task.cancel()
        await asyncio.wait([task])
        await store_words(database, "kept")
        assert await words(database) == ["kept"]


async def test_tasks_cancelled_at_any_moment_leave_the_database_usable(path: Path) -> None:
    async with opened(path) as database:
        for pause in range(60):
            task = asyncio.create_task(store_words(database, str(pause)))
            for _ in range(pause):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        await store_words(database, "kept")
        assert (await words(database))[-1] == "kept"


async def test_an_invalid_statement_leaves_the_database_usable(path: Path) -> None:
    async with opened(path) as database:
        with pytest.raises(StoreError, match="Report this"):
            async with database.transaction() as transaction:
                await transaction.execute("SELECT nothing FROM nowhere")
        await store_words(database, "kept")
        assert await words(database) == ["kept"]


async def test_a_full_disk_is_reported_and_rolled_back(path: Path) -> None:
    async with opened(path) as database:
        await store_words(database, "before")
        async with database.read() as reading:
            pages = await reading.value("PRAGMA page_count")
            await reading.value(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match=r"The disk of .*aside\.db is full. Free some space"):
            await store_words(database, "half", "x" * 100_000)
        async with database.read() as reading:
            await reading.value(f"PRAGMA max_page_count = {pages + 1000}")
        await store_words(database, "after")
        assert await words(database) == ["before", "after"]


async def test_transactions_run_one_after_another(path: Path) -> None:
    async with opened(path) as database:

        async def count() -> None:
            async with database.transaction() as transaction:
                number = await transaction.value("SELECT count(*) FROM words")
                await asyncio.sleep(0)
                await transaction.insert("INSERT INTO words VALUES (?)", str(number))

        await asyncio.gather(*(count() for _ in range(20)))
        assert await words(database) == [str(number) for number in range(20)]


async def test_close_waits_for_the_transaction_and_ends_all_threads(path: Path) -> None:
    before = set(threading.enumerate())
    database = await Database.open(path)
    async with database.transaction() as transaction:
        closing_task = asyncio.create_task(database.close())
        await asyncio.sleep(0.01)
        await transaction.execute("CREATE TABLE words (word TEXT NOT NULL)")
    await closing_task
    await database.close()
    await until(
        lambda: all(
            thread.name.startswith("asyncio_") for thread in set(threading.enumerate()) - before
        )
    )
    with pytest.raises(StoreError, match="closed"):
        await words(database)
    assert from_outside(path, "SELECT count(*) FROM words") == [(0,)]


async def test_a_second_aside_on_the_same_database_is_refused(path: Path) -> None:
    async with opened(path) as database:
        assert "Another Aside is running" in await sentence_of_opening(path)
        await store_words(database, "still works")
    async with opened(path) as database:
        assert await words(database) == ["still works"]


async def test_a_lock_of_another_program_is_reported(path: Path) -> None:
    async with opened(path):
        pass
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "is locked by another program" in await sentence_of_opening(path)
        other.execute("COMMIT")
    async with opened(path) as database, asyncio.timeout(5):
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="is locked by another program"):
                await store_words(database, "later")
            other.execute("COMMIT")
        await store_words(database, "now")
        assert await words(database) == ["now"]


async def test_a_file_of_another_kind_is_left_unchanged(path: Path) -> None:
    diary = b"Dear diary, " * 1000
    assert "is not a database of Aside" in await sentence_of_opening(write(path, diary))
    assert content(path) == diary


async def test_another_programs_database_is_left_unchanged(path: Path) -> None:
    path.parent.mkdir()
    from_outside(path, "CREATE TABLE recipes (title TEXT)")
    before = content(path)
    assert "is not a database of Aside" in await sentence_of_opening(path)
    assert content(path) == before


async def test_a_damaged_database_is_reported(path: Path) -> None:
    async with opened(path) as database:
        for number in range(300):
            async with database.transaction() as transaction:
                await transaction.insert_all(
                    "INSERT INTO words VALUES (?)", [(f"{number} " * 50,)] * 5
                )
    whole = content(path)
    overwritten = write(path, whole[:8192] + b"\xff" * 4096 + whole[12288:])
    assert "is damaged. Move it away and put a backup copy" in await sentence_of_opening(
        overwritten
    )
    cut_off = write(path, whole[: len(whole) // 2])
    assert "is damaged" in await sentence_of_opening(cut_off)


async def test_an_empty_file_becomes_a_database(path: Path) -> None:
    async with opened(write(path, b"")) as database:
        assert await words(database) == []


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EROFS, "is on a read-only disk"),
        (errno.ENOSPC, "is full"),
        (errno.EACCES, "Give Aside write permission"),
        (errno.ENAMETOOLONG, "Check the path"),
    ],
)
def test_each_file_system_error_has_its_own_sentence(number: int, sentence: str) -> None:
    assert sentence in str(
        sqlite_errors.describe_os_error(OSError(number, "reason"), Path("/data/aside.db"))
    )
