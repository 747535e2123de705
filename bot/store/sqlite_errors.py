"""What SQLite and the file system complain about, said as one sentence that tells a person what to do."""

from __future__ import annotations

import errno
import sqlite3
from typing import TYPE_CHECKING

from bot.errors import StoreError, StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path

_SENTENCES = {
    sqlite3.SQLITE_NOTADB: "{path} is no database of Aside's: move it away, or name another file in aside.yaml.",
    sqlite3.SQLITE_CORRUPT: "{path} is damaged: move it away and put a backup copy in its place.",
    sqlite3.SQLITE_BUSY: "{path} is locked by another program: close that program and try again.",
    sqlite3.SQLITE_LOCKED: "{path} is locked by another program: close that program and try again.",
    sqlite3.SQLITE_FULL: "The disk of {path} is full: free some room and try again; what was stored before is safe.",
    sqlite3.SQLITE_READONLY: "{path} can't be written: check who owns the file and whether its disk is read-only.",
    sqlite3.SQLITE_CANTOPEN: "{path} can't be opened: check that its folder exists and that Aside may write there.",
    sqlite3.SQLITE_IOERR: "The disk failed while {path} was in use: check the disk, then start Aside again.",
}
_PASSING = (
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR),
)
_OS_SENTENCES = {
    errno.EROFS: "{path} is on a read-only disk: name a file on another disk in aside.yaml.",
    errno.ENOSPC: _SENTENCES[sqlite3.SQLITE_FULL],
    errno.EACCES: "{path} can't be written: give Aside the right to write this file and its folder.",
    errno.EPERM: "{path} can't be written: give Aside the right to write this file and its folder.",
    errno.EISDIR: "{path} is a folder: name a file for the database in aside.yaml.",
}


def of_sqlite(error: sqlite3.Error, path: Path) -> StoreError:
    """Return the sentence for an error of SQLite's on the database at `path`."""
    code = (
        getattr(error, "sqlite_errorcode", 0) & 0xFF
    )  # extended codes keep the primary one in their last byte
    sentence = _SENTENCES.get(
        code, "{path} refused what Aside wanted to store or read ({error}): please report this."
    )
    return (StoreUnavailable if code in _PASSING else StoreError)(
        sentence.format(path=path, error=error)
    )


def damaged(path: Path) -> StoreError:
    """Return the sentence for a database whose inner order is broken."""
    return StoreError(_SENTENCES[sqlite3.SQLITE_CORRUPT].format(path=path))


def foreign(path: Path) -> StoreError:
    """Return the sentence for a file that is another program's."""
    return StoreError(_SENTENCES[sqlite3.SQLITE_NOTADB].format(path=path))


def of_system(error: OSError, path: Path) -> StoreError:
    """Return the sentence for an error of the file system's on the database at `path` or its folder."""
    other = "{path} can't be opened ({reason}): check the path of the database in aside.yaml."
    return StoreError(
        _OS_SENTENCES.get(error.errno or 0, other).format(path=path, reason=error.strerror)
    )
