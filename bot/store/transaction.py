"""The statements that a transaction can run."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, TypeAlias

from bot.store.column_values import make_storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import aiosqlite

    from bot.store.column_values import Value

Row: TypeAlias = sqlite3.Row


class Transaction:
    """Runs statements on the shared connection.

    Binds all values and makes text storable. Lets sqlite3.Error pass.
    """

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def execute(self, sql: str, *values: Value) -> int:
        """Run one statement and return the number of changed rows."""
        async with self._connection.execute(
            sql, [make_storable(value) for value in values]
        ) as cursor:
            return cursor.rowcount

    async def insert(self, sql: str, *values: Value) -> int:
        """Run one INSERT and return the new row's id."""
        async with self._connection.execute(
            sql, [make_storable(value) for value in values]
        ) as cursor:
            return cursor.lastrowid or 0

    async def insert_all(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one INSERT for each of `rows`."""
        async with self._connection.executemany(
            sql, [[make_storable(value) for value in row] for row in rows]
        ):
            pass

    async def rows(self, sql: str, *values: Value) -> list[Row]:
        """Return all rows of a query."""
        return list(
            await self._connection.execute_fetchall(sql, [make_storable(value) for value in values])
        )

    async def ids(self, sql: str, *values: Value) -> list[int]:
        """Return the first column of all rows of a query."""
        return [row[0] for row in await self.rows(sql, *values)]

    async def row(self, sql: str, *values: Value) -> Row | None:
        """Return the first row of a query, or None."""
        return next(iter(await self.rows(sql, *values)), None)

    async def value(self, sql: str, *values: Value) -> Any:
        """Return the first column of the first row of a query, or None."""
        row = await self.row(sql, *values)
        return row[0] if row else None
