"""The memories of minds. Triggers of the schema erase each text whose turns have changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bot.scenes.memories import MemoryLayer, MindMemory
from bot.store.repository import Repository, id_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.memories import NewMemory
    from bot.store.transaction import Row


class MemoryRepository(Repository):
    """Stores memories, as `bot.scenes.memory_records.MemoryRecords` describes."""

    async def memories(
        self, scene_id: int, character: str, within: int | None = None
    ) -> list[MindMemory]:
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT * FROM memories WHERE scene_id = ? AND character = ? AND parent_id IS ?"
                " ORDER BY first_id, id",
                scene_id,
                character,
                within,
            )
        return [_memory(row) for row in rows]

    async def block_before(self, scene_id: int, character: str, turn_id: int) -> MindMemory | None:
        async with self._database.read() as reading:
            row = await reading.row(
                "SELECT * FROM memories WHERE scene_id = ? AND character = ? AND layer = 0"
                " AND first_id < ? ORDER BY first_id DESC LIMIT 1",
                scene_id,
                character,
                turn_id,
            )
        return _memory(row) if row else None

    async def add_memory(self, scene_id: int, character: str, memory: NewMemory) -> None:
        async with self._database.transaction() as transaction:
            if await transaction.row(
                "SELECT 1 FROM memories WHERE scene_id = ? AND character = ? AND layer = ?"
                " AND first_id <= ? AND last_id >= ?",
                scene_id,
                character,
                memory.layer,
                memory.last_id,
                memory.first_id,
            ):
                return
            await transaction.insert(
                "INSERT INTO memories (scene_id, character, layer, first_id, last_id, text)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                scene_id,
                character,
                memory.layer,
                memory.first_id,
                memory.last_id,
                memory.text,
            )

    async def write_memory(self, memory: MindMemory, text: str, turn_ids: Sequence[int]) -> bool:
        async with self._database.transaction() as transaction:
            return (
                await transaction.execute(
                    "UPDATE memories SET text = ?, turn_ids = ? WHERE id = ? AND revision = ?",
                    text,
                    id_list(turn_ids),
                    memory.id,
                    memory.revision,
                )
                > 0
            )

    async def join_memories(self, parts: Sequence[MindMemory], joined: NewMemory) -> bool:
        ids = id_list(part.id for part in parts)
        async with self._database.transaction() as transaction:
            rows = await transaction.rows(
                "SELECT * FROM memories WHERE parent_id IS NULL"
                " AND id IN (SELECT value FROM json_each(?))",
                ids,
            )
            current = {row["id"]: row["revision"] for row in rows}
            if current != {part.id: part.revision for part in parts}:
                return False
            memory_id = await transaction.insert(
                "INSERT INTO memories (scene_id, character, layer, first_id, last_id, text)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                rows[0]["scene_id"],
                rows[0]["character"],
                joined.layer,
                joined.first_id,
                joined.last_id,
                joined.text,
            )
            replaced = id_list(part.id for part in parts if part.layer is joined.layer)
            await transaction.execute(
                "UPDATE memories SET parent_id = ? WHERE parent_id IN"
                " (SELECT value FROM json_each(?)) OR (id IN (SELECT value FROM json_each(?))"
                " AND layer <> ?)",
                memory_id,
                replaced,
                ids,
                joined.layer,
            )
            await transaction.execute(
                "DELETE FROM memories WHERE id IN (SELECT value FROM json_each(?))", replaced
            )
            return True

    async def forget_memory(self, memory_id: int) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM memories WHERE id = ?", memory_id)


def _memory(row: Row) -> MindMemory:
    return MindMemory(
        id=row["id"],
        layer=MemoryLayer(row["layer"]),
        first_id=row["first_id"],
        last_id=row["last_id"],
        text=row["text"],
        revision=row["revision"],
        turn_ids=tuple(json.loads(row["turn_ids"])),
    )
