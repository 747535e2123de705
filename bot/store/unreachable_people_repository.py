"""The people whom direct messages don't reach, and those who know a notice."""

from __future__ import annotations

from bot.scenes.posts import Obstacle, UnreachablePerson
from bot.store.repository import Repository


class UnreachablePeopleRepository(Repository):
    """Stores who can't be reached, so that a restart does not try or notify them again."""

    async def unreachable_people(self) -> list[UnreachablePerson]:
        """Return everyone whom the last direct message did not reach."""
        async with self._database.read() as reading:
            rows = await reading.rows("SELECT * FROM unreachable")
        return [
            UnreachablePerson(row["user_id"], Obstacle(row["obstacle"]), bool(row["notified"]))
            for row in rows
        ]

    async def save_unreachable(self, person: UnreachablePerson) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO unreachable (user_id, obstacle, notified) VALUES (?, ?, ?)",
                person.user_id,
                person.obstacle,
                person.notified,
            )

    async def forget_unreachable(self, user_id: int) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM unreachable WHERE user_id = ?", user_id)

    async def note_explained(self, user_id: int) -> bool:
        async with self._database.transaction() as transaction:
            new = await transaction.execute(
                "INSERT OR IGNORE INTO explained (user_id) VALUES (?)", user_id
            )
            return bool(new)
