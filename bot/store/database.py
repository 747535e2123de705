"""The SQLite file: checked when opened, used by one transaction at a time, always closed."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiosqlite

from bot.errors import StoreError
from bot.store import sqlite_errors
from bot.store.database_check import APPLICATION_ID, check_database
from bot.store.database_lock import DatabaseLock
from bot.store.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

# At DEBUG aiosqlite logs every statement with its values: people's words and webhook tokens.
logging.getLogger("aiosqlite").setLevel(logging.INFO)

# WAL: other programs can read while Aside writes, and a commit is one append. FULL: with NORMAL, a
# power cut takes the last commits of a WAL with it. A line is answered after its commit, and
# Discord sends it once, so a commit must mean "on the disk". This costs one fsync, and scenes
# seldom write. secure_delete: data that a person has deleted is overwritten, not only unlinked.
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",
    "trusted_schema = OFF",
)


WATCH_INTERVAL = 20.0  # seconds between two checks that the file still exists
_log = logging.getLogger(__name__)


class Database:
    """An open SQLite file.

    Create it with `open`, use `transaction` and `reading`, end it with `close`.
    """

    def __init__(
        self,
        path: Path,
        lock: DatabaseLock,
        connection: aiosqlite.Connection,
        watch_interval: float = WATCH_INTERVAL,
    ) -> None:
        self.path = path
        self._file = _identify(path)
        self._lock = lock
        self._connection = connection
        self._turn = asyncio.Lock()
        self._closed = False
        self._watch = asyncio.create_task(
            self._report_vanished_file(watch_interval), name="database watch"
        )

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        newest_schema: int = sys.maxsize,
        patience: float = 5.0,
        watch_interval: float = WATCH_INTERVAL,
    ) -> Database:
        """Open the database at `path` after `check_database` has passed.

        Create the file and its folder if they are missing. `patience` is how many seconds to wait
        for other programs' locks. Raise StoreError if the database can't be used. A database that
        the check refuses stays byte for byte as it is. The log reports a file that vanishes later
        within `watch_interval` seconds.
        """
        await asyncio.to_thread(check_database, path, newest_schema)
        lock = await asyncio.to_thread(DatabaseLock, path)
        try:
            connection = await aiosqlite.connect(path, isolation_level=None, timeout=patience)
        except BaseException as error:
            lock.release()
            if isinstance(error, sqlite3.Error):
                raise sqlite_errors.describe_sqlite_error(error, path) from error
            raise
        connection.row_factory = sqlite3.Row
        database = cls(path, lock, connection, watch_interval)
        try:
            await database._prepare()
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Finish the current transaction, close the file and release its lock.

        A second call is harmless.
        """
        async with self._turn:
            if self._closed:
                return
            self._closed = True
            self._watch.cancel()
            try:
                await self._connection.close()
            except sqlite3.Error as error:
                raise sqlite_errors.describe_sqlite_error(error, self.path) from error
            finally:
                self._lock.release()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Run a transaction that excludes all others.

        Commit it at the end, or roll it back after an exception. Raise StoreError; the database
        stays usable. If a task is cancelled during the commit, it can't know whether the commit
        happened. The same is true after a crash.
        """
        async with self.read() as transaction:
            if await asyncio.to_thread(_identify, self.path) != self._file:
                raise sqlite_errors.describe_vanished_file(self.path)
            try:
                await transaction.execute("BEGIN IMMEDIATE")
                yield transaction
                await transaction.execute("COMMIT")
            except BaseException:
                await self._connection.rollback()  # harmless if SQLite has already rolled back
                raise

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Transaction]:
        """Read while no transaction runs, so that several queries see the same state.

        Raise StoreError.
        """
        async with self._turn:
            if self._closed:
                raise StoreError(f"{self.path} is closed. Start Aside again.")
            try:
                yield Transaction(self._connection)
            except sqlite3.Error as error:
                raise sqlite_errors.describe_sqlite_error(error, self.path) from error

    async def empty_log(self) -> None:
        """Move all changes into the main file, so that deleted data doesn't survive in the
        write-ahead log.
        """
        async with self.read() as reading:
            await reading.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    async def _prepare(self) -> None:
        async with self.read() as reading:
            for pragma in _PRAGMAS:
                await reading.execute(f"PRAGMA {pragma}")
        # Fail now, not at the first line, if Aside may not write here.
        async with self.transaction() as transaction:
            await transaction.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    async def _report_vanished_file(self, interval: float) -> None:
        """Log once that the file has vanished, even while there is nothing to store."""
        while True:
            await asyncio.sleep(interval)
            if await asyncio.to_thread(_identify, self.path) != self._file:
                _log.critical("%s", sqlite_errors.describe_vanished_file(self.path))
                return


def _identify(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of the file, or None if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
