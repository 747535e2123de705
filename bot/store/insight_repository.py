"""Thoughts that were opened to single players, and how difficult it is to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import thought
from bot.store.column_values import to_microseconds
from bot.store.repository import Repository

if TYPE_CHECKING:
    from datetime import datetime

    from bot.her.beats import Beat
    from bot.scenes.opening import Opening


class InsightRepository(Repository):
    """Stores openings, as `bot.scenes.scene_store.SceneStore` describes."""

    async def set_insight(self, scene_id: int, character: str, difficulty: int | None) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM insight_difficulties WHERE scene_id = ? AND character = ?",
                scene_id,
                character,
            )
            if difficulty is not None:
                await transaction.execute(
                    "INSERT INTO insight_difficulties (scene_id, character, difficulty)"
                    " VALUES (?, ?, ?)",
                    scene_id,
                    character,
                    difficulty,
                )

    async def insight_difficulty(self, scene_id: int, character: str) -> int | None:
        async with self._database.read() as reading:
            found: int | None = await reading.value(
                "SELECT difficulty FROM insight_difficulties WHERE scene_id = ? AND character = ?",
                scene_id,
                character,
            )
        return found

    async def save_insight(
        self, opening: Opening, now: datetime, *, opened: bool, once: bool = False
    ) -> bool:
        async with self._database.transaction() as transaction:
            tried = await transaction.row(
                "SELECT 1 FROM insights WHERE turn_id = ? AND reader_id = ?",
                opening.turn_id,
                opening.reader_id,
            )
            if once and tried:
                return False
            await transaction.execute(
                "INSERT INTO insights (turn_id, take_id, reader_id, opened, created_at)"
                " VALUES (?, ?, ?, ?, ?) ON CONFLICT (take_id, reader_id)"
                " DO UPDATE SET opened = max(opened, excluded.opened)",
                opening.turn_id,
                opening.take_id,
                opening.reader_id,
                opened,
                to_microseconds(now),
            )
        return True

    async def read_opened_thoughts(self, turn_id: int, reader_id: int) -> tuple[Beat, ...]:
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT beats.text FROM insights JOIN beats ON beats.take_id = insights.take_id"
                " WHERE insights.turn_id = ? AND reader_id = ? AND opened AND kind = 'thought'"
                " ORDER BY insights.created_at, beats.take_id, beats.position",
                turn_id,
                reader_id,
            )
        return tuple(thought(row["text"]) for row in rows)
