"""Small facts the program remembers about itself, by name."""

from __future__ import annotations

from bot.store.repository import Repository


class KeyValueRepository(Repository):
    """Names and values; what they mean is their owner's business."""

    async def fact(self, name: str) -> str | None:
        """Return what was last remembered under that name, if anything."""
        async with self._database.reading() as reading:
            found: str | None = await reading.value("SELECT value FROM facts WHERE name = ?", name)
            return found

    async def set_fact(self, name: str, value: str) -> None:
        """Remember a value, in place of an earlier one of that name."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", name, value
            )
