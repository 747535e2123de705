"""Let only one Aside use a database. The lock ends with its process, even after a crash."""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from typing import TYPE_CHECKING

from bot.errors import StoreError
from bot.store import sqlite_errors

if TYPE_CHECKING:
    from pathlib import Path

if sys.platform != "win32":
    import fcntl


class DatabaseInUse(StoreError):
    """Another Aside has the database open."""


class DatabaseLock:
    """A lock on the database at `path`, held until `release`.

    It is one of SQLite's own locks, on an empty file beside the database. So it works on every
    system that SQLite supports, and other programs can still read the database. Creates the
    database file and its folder if they are missing, with access for their owner only. Raise
    DatabaseInUse if the lock is taken, or StoreError if the file can't be used.
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


def require_unlocked(path: Path) -> None:
    """Raise DatabaseInUse if another Aside has the database at `path` open. Changes no file."""
    if _lock_file(path).exists():
        _acquire(path).close()


def _lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _acquire(path: Path) -> sqlite3.Connection:
    beside = _lock_file(path)
    if not beside.exists():
        beside.touch(mode=0o600)
    try:
        lock = sqlite3.connect(beside, timeout=0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise sqlite_errors.describe_sqlite_error(error, beside) from error
    try:
        lock.execute("PRAGMA journal_mode = MEMORY")  # keeps the lock file empty
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        lock.close()
        if not _supports_locks(path.parent):
            raise sqlite_errors.describe_missing_locks(path) from error
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise sqlite_errors.describe_sqlite_error(error, beside) from error
        raise DatabaseInUse(
            f"Another Aside is running on {path}. Stop it, or set another database in aside.yaml."
        ) from error
    return lock


def _supports_locks(folder: Path) -> bool:
    """Return whether files in `folder` can be locked.

    SQLite reports a missing lock service, as on some network file systems, as a lock that is taken.
    Uses a file of its own, because closing the lock file would drop this process's lock on it.
    """
    if sys.platform == "win32":
        return True
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            fcntl.lockf(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in sqlite_errors.NO_LOCKS
    return True
