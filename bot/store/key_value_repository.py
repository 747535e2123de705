"""Small values that the program remembers by name."""

from __future__ import annotations

from bot.store.repository import Repository


class KeyValueRepository(Repository):
    """Names with values. The owner of a name decides what its value means."""

    async def fact(self, name: str) -> str | None:
        """Return the value stored under `name`, or None."""
        async with self._database.read() as reading:
            found: str | None = await reading.value("SELECT value FROM facts WHERE name = ?", name)
            return found

    async def set_fact(self, name: str, value: str) -> None:
        """Store a value under `name` and replace an earlier one."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", name, value
            )
