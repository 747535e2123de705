"""Check a database before it is opened, without changing it or any file beside it.

`aside doctor` and the start use the same check, so a database that passes here can be opened.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import StoreError
from bot.store import sqlite_errors
from bot.store.database_lock import require_unlocked

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLICATION_ID = 0x41534944  # "ASID" in the file's header: tells Aside's databases from others
_MAGIC = b"SQLite format 3\0"
_ATTEMPTS = 3  # at a consistent copy, while another program writes


def check_database(path: Path, newest_schema: int) -> int | None:
    """Return the size in bytes of the database at `path`, or None if it will be created.

    Changes no file. Reads the whole database, so call it in a thread. Raise DatabaseInUse if
    another Aside has the database open. Raise StoreError, with the reason, if it is a folder,
    damaged, read-only, not SQLite, of another program, or of a newer Aside than `newest_schema`.
    """
    try:
        if not path.exists():
            _require_writable_folder(path)
            return None
        if path.is_dir():
            raise sqlite_errors.describe_folder(path)
        if not _may_access(path, os.R_OK | os.W_OK):
            raise sqlite_errors.describe_read_only_file(path)
        _require_writable_folder(path)
        require_unlocked(path)
        size = path.stat().st_size
        _check_content(path, newest_schema)
        os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        raise sqlite_errors.describe_os_error(error, path) from error
    return size


def check_copy(copy: Path, path: Path, newest_schema: int) -> None:
    """Check `copy`, which is a file of its own with the content of the database at `path`.

    The errors name `path`. Raise StoreError as `check_database` does.
    """
    with copy.open("rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise sqlite_errors.describe_foreign_file(path)
    _check_file(copy, path, newest_schema, "immutable=1")


def _require_writable_folder(path: Path) -> None:
    folder = next(one for one in path.absolute().parents if one.exists())
    if not folder.is_dir():
        raise NotADirectoryError(20, os.strerror(20), str(folder))
    if not _may_access(folder, os.W_OK | os.X_OK):
        raise sqlite_errors.describe_read_only_file(path)


def _may_access(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _check_content(path: Path, newest_schema: int) -> None:
    for attempt in range(_ATTEMPTS):
        before = _read_versions(path)
        try:
            _check_unchanging(path, newest_schema)
        except StoreError:
            if _read_versions(path) == before or attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def _check_unchanging(path: Path, newest_schema: int) -> None:
    """Check the file itself. If a log beside it has unmerged changes, check a copy of both."""
    with path.open("rb") as stream:
        if stream.read(len(_MAGIC)) not in (b"", _MAGIC):  # SQLite overwrites very short files
            raise sqlite_errors.describe_foreign_file(path)
    logs = [log for log in _logs(path) if log.exists() and log.stat().st_size]
    if not logs:
        _check_file(path, path, newest_schema, "immutable=1")
        return
    with tempfile.TemporaryDirectory(prefix="aside-database-") as folder:
        copy = Path(folder) / path.name
        for file in (path, *logs):
            shutil.copyfile(file, copy.with_name(file.name))
        _check_file(copy, path, newest_schema, "mode=rw")


def _check_file(file: Path, path: Path, newest_schema: int, mode: str) -> None:
    """Check `file`, which is the database at `path` or a copy of it."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True)) as database:
            owner = _read_value(database, "PRAGMA application_id")
            is_empty = _read_value(database, "SELECT count(*) FROM sqlite_master") == 0
            if owner != APPLICATION_ID and not (owner == 0 and is_empty):
                raise sqlite_errors.describe_foreign_file(path)
            schema = int(_read_value(database, "PRAGMA user_version"))
            if schema > newest_schema:
                raise sqlite_errors.describe_newer_schema(path, schema, newest_schema)
            if _read_value(database, "PRAGMA quick_check(1)") != "ok":
                raise sqlite_errors.describe_damage(path)
    except sqlite3.Error as error:
        raise sqlite_errors.describe_sqlite_error(error, path) from error


def _read_value(database: sqlite3.Connection, query: str) -> int | str:
    value: int | str = database.execute(query).fetchone()[0]
    return value


def _logs(path: Path) -> Iterator[Path]:
    """Yield the files that may have changes which the database file lacks."""
    yield path.with_name(f"{path.name}-wal")
    yield path.with_name(f"{path.name}-journal")


def _read_versions(path: Path) -> list[tuple[int, int]]:
    return [
        (status.st_mtime_ns, status.st_size)
        for file in (path, *_logs(path))
        if file.exists()
        for status in (file.stat(),)
    ]
