"""One Aside a database: a lock that the second one finds taken and that goes when its process goes, however it ends."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from bot.errors import StoreError
from bot.store import sqlite_errors

if TYPE_CHECKING:
    from pathlib import Path


class DatabaseLock:
    """A claim on the database at `path`, held from making it until `release`.

    The lock is one of SQLite's own, on an empty file beside the database: it works wherever SQLite does, and the
    database itself stays readable for other programs. Making a claim also makes the folder and the database's file,
    readable for their owner only. Raises StoreError.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(path)
        except OSError as error:
            raise sqlite_errors.of_system(error, path) from error
        try:
            # Only now: closing any handle of a file drops all locks that this process has on it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            self.release()
            raise sqlite_errors.of_system(error, path) from error

    def release(self) -> None:
        """Let another Aside have the database. Releasing twice does nothing."""
        self._lock.close()


def _lock(path: Path) -> sqlite3.Connection:
    beside = path.with_name(f"{path.name}.lock")
    beside.touch(mode=0o600)
    lock = sqlite3.connect(beside, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("PRAGMA journal_mode = MEMORY")  # no journal file: nothing is ever written
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        lock.close()
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise sqlite_errors.of_sqlite(error, beside) from error
        raise StoreError(
            f"Another Aside is running on {path}: stop that one, or name another database in aside.yaml."
        ) from error
    return lock
