"""Turn errors of SQLite and the file system into sentences that say how to fix them."""

from __future__ import annotations

import errno
import sqlite3
from typing import TYPE_CHECKING

from bot.errors import StoreError, StoreUnavailable, UnusableDatabase

if TYPE_CHECKING:
    from pathlib import Path

_LOCKED = "{path} is locked by another program. Close that program and try again."
_FULL = (
    "The disk of {path} is full. Free some space and try again. Everything stored before is safe."
)
_NO_PERMISSION = (
    "{path} can't be written. Give Aside write permission for this file and its folder."
)
_SENTENCES = {
    sqlite3.SQLITE_NOTADB: (
        "{path} is not a database of Aside. Move it away, or set another file in aside.yaml."
    ),
    sqlite3.SQLITE_CORRUPT: "{path} is damaged. Move it away and put a backup copy in its place.",
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: (
        "{path} can't be written. Check the file's owner and whether its disk is read-only."
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "{path} can't be opened. Check that its folder exists and that Aside may write there."
    ),
    sqlite3.SQLITE_IOERR: (
        "The disk failed while {path} was in use. Check the disk, then start Aside again."
    ),
}
_TEMPORARY = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_IOERR,
)
_OS_SENTENCES = {
    errno.EROFS: "{path} is on a read-only disk. Set a file on another disk in aside.yaml.",
    errno.ENOSPC: _FULL,
    errno.EACCES: _NO_PERMISSION,
    errno.EPERM: _NO_PERMISSION,
    errno.EISDIR: "{path} is a folder. Set a file for the database in aside.yaml.",
}


# The system has no locks for this file system, or its lock service does not run.
NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL})


def describe_sqlite_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Return the StoreError for an SQLite error on the database at `path`."""
    code = (
        getattr(error, "sqlite_errorcode", 0) & 0xFF
    )  # the low byte of an extended code is the primary code
    sentence = _SENTENCES.get(
        code, "{path} rejected a read or write of Aside ({error}). Report this."
    )
    kind = StoreUnavailable if code in _TEMPORARY else StoreError
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        kind = UnusableDatabase
    return kind(sentence.format(path=path, error=error))


def describe_damage(path: Path) -> StoreError:
    """Return the error for a database whose structure is damaged."""
    return UnusableDatabase(_SENTENCES[sqlite3.SQLITE_CORRUPT].format(path=path))


def describe_foreign_file(path: Path) -> StoreError:
    """Return the error for a file that belongs to another program."""
    return UnusableDatabase(_SENTENCES[sqlite3.SQLITE_NOTADB].format(path=path))


def describe_folder(path: Path) -> StoreError:
    """Return the error for a folder in place of the file."""
    return UnusableDatabase(_OS_SENTENCES[errno.EISDIR].format(path=path))


def describe_read_only_file(path: Path) -> StoreError:
    """Return the error for a database or folder that Aside may not write to."""
    return UnusableDatabase(_NO_PERMISSION.format(path=path))


def describe_newer_schema(path: Path, schema: int, newest: int) -> StoreError:
    """Return the error for a database that a newer Aside has migrated."""
    return UnusableDatabase(
        f"{path} was written by a newer Aside (schema {schema}, this one knows {newest}). Install "
        "the latest Aside, or set another database in aside.yaml."
    )


def describe_missing_locks(path: Path) -> StoreError:
    """Return the error for a file system without file locks."""
    return UnusableDatabase(
        f"The file system of {path} has no file locks, so the database can't be used safely there. "
        "Set a file on a local disk in aside.yaml."
    )


def describe_vanished_file(path: Path) -> StoreError:
    """Return the error for a database file that was deleted or replaced while it was open."""
    return StoreError(
        f"{path} was deleted or replaced while Aside was running, so Aside can't store anything. "
        "Stop Aside, put the file back, and start it again."
    )


def describe_os_error(error: OSError, path: Path) -> StoreError:
    """Return the StoreError for a file system error on the database at `path` or its folder."""
    other = "{path} can't be opened ({reason}). Check the path of the database in aside.yaml."
    kind = StoreError if error.errno == errno.ENOSPC else UnusableDatabase
    return kind(_OS_SENTENCES.get(error.errno or 0, other).format(path=path, reason=error.strerror))
