"""Let only one Aside use a database. The lock ends with its process, even after a crash."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from bot.errors import StoreError
from bot.store import sqlite_errors

if TYPE_CHECKING:
    from pathlib import Path


class DatabaseLock:
    """A lock on the database at `path`, held until `release`.

    It is one of SQLite's own locks, on an empty file beside the database. So it works on every
    system that SQLite supports, and other programs can still read the database. Creates the
    database file and its folder if they are missing, with access for their owner only. Raise
    StoreError if the lock is taken or the file can't be used.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _acquire(path)
        except OSError as error:
            raise sqlite_errors.describe_os_error(error, path) from error
        try:
            # Create the database file last: closing any handle of a file drops all locks of this
            # process on it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            self.release()
            raise sqlite_errors.describe_os_error(error, path) from error

    def release(self) -> None:
        """Release the lock. A second call is harmless."""
        self._lock.close()


def _acquire(path: Path) -> sqlite3.Connection:
    beside = path.with_name(f"{path.name}.lock")
    beside.touch(mode=0o600)
    lock = sqlite3.connect(beside, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("PRAGMA journal_mode = MEMORY")  # keeps the lock file empty
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        lock.close()
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise sqlite_errors.describe_sqlite_error(error, beside) from error
        raise StoreError(
            f"Another Aside is running on {path}. Stop it, or set another database in aside.yaml."
        ) from error
    return lock
