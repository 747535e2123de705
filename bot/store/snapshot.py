"""A consistent copy of a database, also while the bot uses it."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import StoreError
from bot.store import sqlite_errors
from bot.store.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def open_snapshot(path: Path) -> AsyncIterator[Store]:
    """Open a copy of the database at `path` as it is now. The copy is deleted afterwards.

    The bot may be running. Only the copy is migrated if the database has an older schema. Raise
    StoreError if the database is missing or can't be read.
    """
    with tempfile.TemporaryDirectory(prefix="aside-snapshot-") as folder:
        copy = Path(folder) / "aside.db"
        await asyncio.to_thread(copy_database, path, copy)
        async with await Store.open(copy) as store:
            yield store


def copy_database(path: Path, copy: Path) -> None:
    """Write a consistent copy of the database at `path` to the file `copy`.

    Blocks, so call it in a thread. Raise StoreError if the database is missing or can't be read.
    """
    if not path.is_file():
        raise StoreError(f"{path} does not exist. Set `store.path` to the bot's database.")
    try:
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
    except sqlite3.Error as error:
        raise sqlite_errors.describe_sqlite_error(error, path) from error
