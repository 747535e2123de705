"""The SQLite file: opened with care, used in transactions by one at a time, always closed."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiosqlite

from bot.errors import StoreError
from bot.store import sqlite_errors
from bot.store.database_lock import DatabaseLock
from bot.store.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

APPLICATION_ID = (
    0x41534944  # "ASID" in the file's header: tells Aside's databases from other programs'
)

# At DEBUG aiosqlite logs every statement with its values: people's words, and webhook tokens.
logging.getLogger("aiosqlite").setLevel(logging.INFO)

# WAL: other programs may read while Aside writes, and a commit is one append.
# FULL: with NORMAL a power cut takes the last commits of a WAL with it. A line is answered once it is committed, and
# Discord sends it only once, so a commit must mean "on the disk". It costs one fsync, and scenes write seldom.
# secure_delete: what a person has had deleted is overwritten, not merely forgotten.
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",
    "trusted_schema = OFF",
)


class Database:
    """One open SQLite file. `open` makes it, `close` ends it; in between `transaction` and `reading`."""

    def __init__(self, path: Path, claim: DatabaseLock, connection: aiosqlite.Connection) -> None:
        self.path = path
        self._claim = claim
        self._connection = connection
        self._turn = asyncio.Lock()
        self._closed = False

    @classmethod
    async def open(cls, path: Path, *, patience: float = 5.0) -> Database:
        """Open the database at `path`, made with its folder where there is none, after checking that it is whole.

        `patience` is how many seconds to wait for other programs' locks. Raises StoreError; nothing stays open then.
        """
        claim = await asyncio.to_thread(DatabaseLock, path)
        try:
            connection = await aiosqlite.connect(path, isolation_level=None, timeout=patience)
        except BaseException as error:
            claim.release()
            if isinstance(error, sqlite3.Error):
                raise sqlite_errors.of_sqlite(error, path) from error
            raise
        connection.row_factory = sqlite3.Row
        database = cls(path, claim, connection)
        try:
            await database._prepare()
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Wait for the transaction under way, then close the file and let others have it. Twice does nothing."""
        async with self._turn:
            if self._closed:
                return
            self._closed = True
            try:
                await self._connection.close()
            except sqlite3.Error as error:
                raise sqlite_errors.of_sqlite(error, self.path) from error
            finally:
                self._claim.release()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Begin a transaction, alone; commit it at the end, or roll it back where anything was raised.

        Raises StoreError; the database stays usable. A task cancelled during the commit can't tell whether it
        happened, as after a crash.
        """
        async with self.reading() as transaction:
            try:
                await transaction.execute("BEGIN IMMEDIATE")
                yield transaction
                await transaction.execute("COMMIT")
            except BaseException:
                await (
                    self._connection.rollback()
                )  # does nothing where SQLite has rolled back already
                raise

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        """Read, alone, so that several queries see the same state. Raises StoreError."""
        async with self._turn:
            if self._closed:
                raise StoreError(f"{self.path} has been closed: start Aside again.")
            try:
                yield Transaction(self._connection)
            except sqlite3.Error as error:
                raise sqlite_errors.of_sqlite(error, self.path) from error

    async def empty_log(self) -> None:
        """Write all changes into the file itself, so that what was deleted doesn't live on in the write-ahead log."""
        async with self.reading() as reading:
            await reading.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    async def _prepare(self) -> None:
        async with self.reading() as reading:
            await self._recognise(reading)
            for pragma in _PRAGMAS:
                await reading.execute(f"PRAGMA {pragma}")
            if await reading.value("PRAGMA quick_check(1)") != "ok":
                raise sqlite_errors.damaged(self.path)
        # Whether Aside may write here is found out now and not at the first line.
        async with self.transaction() as transaction:
            await transaction.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    async def _recognise(self, reading: Transaction) -> None:
        owner = await reading.value("PRAGMA application_id")
        fresh = owner == 0 and await reading.value("SELECT count(*) FROM sqlite_master") == 0
        if owner != APPLICATION_ID and not fresh:
            raise sqlite_errors.foreign(self.path)
