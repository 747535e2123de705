"""The SQLite file: checked when opened, used by one transaction at a time, always closed."""

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
    0x41534944  # "ASID" in the file's header, which tells Aside's databases from other programs'
)

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


class Database:
    """An open SQLite file.

    Create it with `open`, use `transaction` and `reading`, end it with `close`.
    """

    def __init__(self, path: Path, claim: DatabaseLock, connection: aiosqlite.Connection) -> None:
        self.path = path
        self._claim = claim
        self._connection = connection
        self._turn = asyncio.Lock()
        self._closed = False

    @classmethod
    async def open(cls, path: Path, *, patience: float = 5.0) -> Database:
        """Open the database at `path` after checking it.

        Create the file and its folder if they are missing. `patience` is how many seconds to wait
        for other programs' locks. Raise StoreError if the database can't be used; nothing stays
        open then.
        """
        claim = await asyncio.to_thread(DatabaseLock, path)
        try:
            connection = await aiosqlite.connect(path, isolation_level=None, timeout=patience)
        except BaseException as error:
            claim.release()
            if isinstance(error, sqlite3.Error):
                raise sqlite_errors.describe_sqlite_error(error, path) from error
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
        """Finish the current transaction, close the file and release its lock.

        A second call is harmless.
        """
        async with self._turn:
            if self._closed:
                return
            self._closed = True
            try:
                await self._connection.close()
            except sqlite3.Error as error:
                raise sqlite_errors.describe_sqlite_error(error, self.path) from error
            finally:
                self._claim.release()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Run a transaction that excludes all others.

        Commit it at the end, or roll it back after an exception. Raise StoreError; the database
        stays usable. If a task is cancelled during the commit, it can't know whether the commit
        happened. The same is true after a crash.
        """
        async with self.reading() as transaction:
            try:
                await transaction.execute("BEGIN IMMEDIATE")
                yield transaction
                await transaction.execute("COMMIT")
            except BaseException:
                await self._connection.rollback()  # harmless if SQLite has already rolled back
                raise

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
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
        async with self.reading() as reading:
            await reading.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    async def _prepare(self) -> None:
        async with self.reading() as reading:
            await self._recognise(reading)
            for pragma in _PRAGMAS:
                await reading.execute(f"PRAGMA {pragma}")
            if await reading.value("PRAGMA quick_check(1)") != "ok":
                raise sqlite_errors.describe_damage(self.path)
        # Fail now, not at the first line, if Aside may not write here.
        async with self.transaction() as transaction:
            await transaction.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    async def _recognise(self, reading: Transaction) -> None:
        owner = await reading.value("PRAGMA application_id")
        fresh = owner == 0 and await reading.value("SELECT count(*) FROM sqlite_master") == 0
        if owner != APPLICATION_ID and not fresh:
            raise sqlite_errors.describe_foreign_file(self.path)
