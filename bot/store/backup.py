"""Back up the database while the bot runs, and restore a backup while it does not."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import StoreError
from bot.store import sqlite_errors
from bot.store.database_check import check_copy, check_database
from bot.store.database_lock import DatabaseLock, require_unlocked
from bot.store.migrations import MIGRATIONS
from bot.store.snapshot import copy_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

_LOGS: Final = ("-wal", "-shm", "-journal")
_PATTERN: Final = "aside-*.db"


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished backup."""

    path: Path
    size: int  # bytes
    rows: int  # of all tables together


def name_backup(now: datetime) -> str:
    """Return the file name of a backup made at `now`. Names sort by time."""
    return f"aside-{now:%Y%m%d-%H%M%S}.db"


def write_backup(path: Path, target: Path) -> Backup:
    """Write a backup of the database at `path` to the file `target`. Blocks.

    The bot may be running. The backup has no webhook tokens, because whoever has one can post under
    any name; the bot asks Discord for them again. The backup is read again and compared with the
    database's content before it gets its name, so that an interrupted or damaged one never has it.
    Raise StoreError if the database can't be read, the disk is full, or `target` exists.
    """
    if target.exists():
        raise StoreError(f"{target} exists already. Choose another file.")
    unfinished = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        copy_database(path, unfinished)
        rows = _remove_tokens(unfinished)
        check_copy(unfinished, path, len(MIGRATIONS))
        if _count_rows(unfinished) != rows:
            raise sqlite_errors.describe_damage(path)
        _flush(unfinished)
        unfinished.replace(target)
    except OSError as error:
        raise sqlite_errors.describe_os_error(error, target) from error
    except sqlite3.Error as error:
        raise sqlite_errors.describe_sqlite_error(error, target) from error
    finally:
        for file in (unfinished, *_list_logs(unfinished)):
            file.unlink(missing_ok=True)
    return Backup(target, target.stat().st_size, sum(rows.values()))


def restore_backup(backup: Path, path: Path) -> Path | None:
    """Put a backup in the place of the database at `path`. Blocks. The bot must not be running.

    The earlier database and its logs are kept beside it under another name, which is returned. A
    log that stayed would be merged into the restored file and damage it. Raise DatabaseInUse if the
    bot is running, and StoreError if the backup can't be used; nothing has changed then.
    """
    if not backup.is_file():
        raise StoreError(f"{backup} does not exist. Name a file that `aside backup` wrote.")
    require_unlocked(path)
    fresh = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _copy(backup, fresh)
        check_copy(fresh, backup, len(MIGRATIONS))
        return _replace_database(path, fresh)
    except OSError as error:
        raise sqlite_errors.describe_os_error(error, path) from error
    finally:
        for file in (fresh, *_list_logs(fresh)):
            file.unlink(missing_ok=True)


def delete_old_backups(folder: Path, keep: int) -> list[Path]:
    """Delete all but the latest `keep` backups in a folder. Return the deleted ones. Blocks."""
    old = list_backups(folder)[:-keep] if keep else []
    for backup in old:
        backup.unlink(missing_ok=True)
    return old


def list_backups(folder: Path) -> list[Path]:
    """Return the backups in a folder that bear a name of `name_backup`, the oldest first."""
    return sorted(folder.glob(_PATTERN)) if folder.is_dir() else []


def vacuum(path: Path) -> tuple[int, int]:
    """Rewrite the database without its free pages. Return its size in bytes before and after.

    Blocks. The bot must not be running. Raise DatabaseInUse if it is, or StoreError.
    """
    if not path.is_file():
        raise StoreError(f"{path} does not exist. Set `store.path` to the bot's database.")
    before = check_database(path, len(MIGRATIONS)) or 0
    lock = DatabaseLock(path)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("VACUUM")
    except sqlite3.Error as error:
        raise sqlite_errors.describe_sqlite_error(error, path) from error
    finally:
        lock.release()
    return before, path.stat().st_size


def _remove_tokens(file: Path) -> dict[str, int]:
    """Delete the webhooks of a copy, and return the number of rows in each table."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        # One file without logs, and deleted bytes are overwritten.
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA secure_delete = ON")
        tables = set(_list_tables(connection))
        if "webhooks" in tables:
            connection.execute("DELETE FROM webhooks")
        return _count(connection)


def _count_rows(file: Path) -> dict[str, int]:
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return _count(connection)


def _count(connection: sqlite3.Connection) -> dict[str, int]:
    return {
        table: connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]  # noqa: S608 - our own names
        for table in _list_tables(connection)
    }


def _list_tables(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return [name for (name,) in connection.execute(query)]


def _copy(backup: Path, fresh: Path) -> None:
    """Copy a backup. If it has a log beside it, it is a database in use, and both are read."""
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    if any(log.exists() and log.stat().st_size for log in _list_logs(backup)):
        copy_database(backup, fresh)
    else:
        shutil.copyfile(backup, fresh)
    _flush(fresh)


def _replace_database(path: Path, fresh: Path) -> Path | None:
    existed = path.exists()
    lock = DatabaseLock(path)
    try:
        kept = _move_aside(path) if existed else None
        fresh.replace(path)
    finally:
        lock.release()
    return kept


def _move_aside(path: Path) -> Path:
    """Rename the database and its logs, so that they still belong together."""
    number = 1
    while (kept := path.with_name(f"{path.name}.before-restore-{number}")).exists():
        number += 1
    for log in _list_logs(path):
        if log.exists():
            shutil.move(log, kept.with_name(kept.name + log.name.removeprefix(path.name)))
    path.replace(kept)
    return kept


def _list_logs(path: Path) -> Iterator[Path]:
    for suffix in _LOGS:
        yield path.with_name(path.name + suffix)


def _flush(file: Path) -> None:
    """Make sure that the file's content is on the disk."""
    handle = os.open(file, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
