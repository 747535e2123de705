"""Check the database with the code that opens it at the start, without changing it."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import tempfile
from pathlib import Path

from bot.errors import StoreError
from bot.store.sqlite_errors import describe_os_error
from bot.store.store import Store

_FILES = ("", "-wal")  # the database and its write-ahead log, which has the newest changes


def check_database(path: Path) -> str:
    """Return a short description of the database at `path`.

    Opens a copy, because opening a database may migrate it to the current schema. Raises StoreError
    if the bot could not open the database.
    """
    try:
        if not path.exists():
            _require_writable(_find_existing_parent(path))
            return f"{path} will be created at the first start"
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        _require_writable(path)
        _require_writable(path.absolute().parent)
        with tempfile.TemporaryDirectory(prefix="aside-doctor-") as folder:
            copy = Path(folder) / path.name
            for suffix in _FILES:
                if (source := path.with_name(path.name + suffix)).exists():
                    shutil.copyfile(source, copy.with_name(copy.name + suffix))
            _open(copy, path)
        return f"{path}, {path.stat().st_size / 2**20:.1f} MiB"
    except OSError as error:
        raise describe_os_error(error, path) from error


def _open(copy: Path, path: Path) -> None:
    async def open_and_close() -> None:
        async with await Store.open(copy):
            pass

    try:
        asyncio.run(open_and_close())
    except StoreError as error:
        raise type(error)(str(error).replace(str(copy), str(path))) from error


def _find_existing_parent(path: Path) -> Path:
    parent = path.absolute().parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return parent


def _require_writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
