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
    async with database.reading() as reading:
        return [row["word"] for row in await reading.rows("SELECT word FROM words ORDER BY rowid")]


async def store_words(database: Database, *several: str | None) -> None:
    async with database.transaction() as transaction:
        for word in several:
            await transaction.insert("INSERT INTO words VALUES (?)", word)


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def content(path: Path) -> bytes:
    return path.read_bytes()


async def sentence_of_opening(path: Path) -> str:
    """Open a database that can't be; return what a person is told. Nothing may stay behind."""
    before = threading.active_count()
    with pytest.raises(StoreError) as caught:
        await Database.open(path, patience=0.05)
    await asyncio.sleep(0.05)
    assert threading.active_count() <= before + 1  # asyncio.to_thread keeps one for the next call
    sentence = str(caught.value)
    assert str(path) in sentence
    assert sentence.count(". ") == 0
    return sentence


async def test_what_is_committed_is_on_the_disk_and_readable_by_others(path: Path) -> None:
    async with opened(path) as database:
        await store_words(database, "Papa")
        assert from_outside(path, "SELECT word FROM words") == [("Papa",)]
        async with database.reading() as reading:
            assert await reading.value("PRAGMA journal_mode") == "wal"
            assert await reading.value("PRAGMA synchronous") == 2  # FULL
            assert await reading.value("PRAGMA foreign_keys") == 1


async def test_a_transaction_that_fails_leaves_nothing(path: Path) -> None:
    async with opened(path) as database:
        with pytest.raises(StoreError):
            await store_words(database, "lost", None)
        await store_words(database, "kept")
        assert await words(database) == ["kept"]


async def test_a_task_cancelled_in_a_transaction_leaves_nothing_and_blocks_nobody(
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


async def test_a_wrong_statement_is_an_error_and_no_more(path: Path) -> None:
    async with opened(path) as database:
        with pytest.raises(StoreError, match="please report"):
            async with database.transaction() as transaction:
                await transaction.execute("SELECT nothing FROM nowhere")
        await store_words(database, "kept")
        assert await words(database) == ["kept"]


async def test_a_full_disk_is_said_rolled_back_and_survived(path: Path) -> None:
    async with opened(path) as database:
        await store_words(database, "before")
        async with database.reading() as reading:
            pages = await reading.value("PRAGMA page_count")
            await reading.value(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match=r"The disk of .*aside\.db is full: free some room"):
            await store_words(database, "half", "x" * 100_000)
        async with database.reading() as reading:
            await reading.value(f"PRAGMA max_page_count = {pages + 1000}")
        await store_words(database, "after")
        assert await words(database) == ["before", "after"]


async def test_one_transaction_waits_for_the_other(path: Path) -> None:
    async with opened(path) as database:

        async def count() -> None:
            async with database.transaction() as transaction:
                number = await transaction.value("SELECT count(*) FROM words")
                await asyncio.sleep(0)
                await transaction.insert("INSERT INTO words VALUES (?)", str(number))

        await asyncio.gather(*(count() for _ in range(20)))
        assert await words(database) == [str(number) for number in range(20)]


async def test_closing_waits_for_what_is_being_stored_and_leaves_no_thread(path: Path) -> None:
    before = set(threading.enumerate())
    database = await Database.open(path)
    async with database.transaction() as transaction:
        closing_task = asyncio.create_task(database.close())
        await asyncio.sleep(0.01)
        await transaction.execute("CREATE TABLE words (word TEXT NOT NULL)")
    await closing_task
    await database.close()
    assert not [
        thread
        for thread in set(threading.enumerate()) - before
        if not thread.name.startswith("asyncio_")
    ]
    with pytest.raises(StoreError, match="closed"):
        await words(database)
    assert from_outside(path, "SELECT count(*) FROM words") == [(0,)]


async def test_two_asides_on_one_database_are_told_so(path: Path) -> None:
    async with opened(path) as database:
        assert "Another Aside is running" in await sentence_of_opening(path)
        await store_words(database, "still works")
    async with opened(path) as database:
        assert await words(database) == ["still works"]


async def test_a_database_locked_by_another_program_is_named(path: Path) -> None:
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


async def test_a_file_that_is_no_database_is_left_as_it_is(path: Path) -> None:
    diary = b"Dear diary, " * 1000
    assert "is no database of Aside's" in await sentence_of_opening(put(path, diary))
    assert content(path) == diary


async def test_another_programs_database_is_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    from_outside(path, "CREATE TABLE recipes (title TEXT)")
    before = content(path)
    assert "is no database of Aside's" in await sentence_of_opening(path)
    assert content(path) == before


async def test_a_damaged_database_is_named(path: Path) -> None:
    async with opened(path) as database:
        for number in range(300):
            async with database.transaction() as transaction:
                await transaction.insert_all(
                    "INSERT INTO words VALUES (?)", [(f"{number} " * 50,)] * 5
                )
    whole = content(path)
    overwritten = put(path, whole[:8192] + b"\xff" * 4096 + whole[12288:])
    assert "is damaged: move it away and put a backup copy" in await sentence_of_opening(
        overwritten
    )
    cut_off = put(path, whole[: len(whole) // 2])
    assert "is damaged" in await sentence_of_opening(cut_off)


async def test_an_empty_file_becomes_a_database(path: Path) -> None:
    async with opened(put(path, b"")) as database:
        assert await words(database) == []


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EROFS, "is on a read-only disk"),
        (errno.ENOSPC, "is full"),
        (errno.EACCES, "give Aside the right"),
        (errno.ENAMETOOLONG, "check the path"),
    ],
)
def test_what_the_file_system_refuses_is_said_in_words(number: int, sentence: str) -> None:
    assert sentence in str(
        sqlite_errors.of_system(OSError(number, "reason"), Path("/data/aside.db"))
    )
