"""Standing notes: a game master's instructions that minds follow until they are removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.scenes.note import Note
from bot.store.column_values import to_microseconds
from bot.store.repository import Repository

if TYPE_CHECKING:
    from datetime import datetime

    from bot.scenes.note import NewNote


class NoteRepository(Repository):
    """Stores standing notes, as `bot.scenes.scene_store.SceneStore` describes."""

    async def add_note(self, scene_id: int, note: NewNote, now: datetime) -> Note:
        async with self._database.transaction() as transaction:
            note_id = await transaction.insert(
                "INSERT INTO notes (scene_id, character, text, author_id, created_at) VALUES "
                "(?, ?, ?, ?, ?)",
                scene_id,
                note.character,
                note.text,
                note.author_id,
                to_microseconds(now),
            )
        return Note(note_id, note.character, note.text)

    async def notes(self, scene_id: int) -> list[Note]:
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT * FROM notes WHERE scene_id = ? ORDER BY id", scene_id
            )
        return [Note(row["id"], row["character"], row["text"]) for row in rows]

    async def remove_note(self, note_id: int) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM notes WHERE id = ?", note_id)
