"""Stories: reads the part of a scene's turns that is needed, however long the scene is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bot.scenes.turn_selection import WHOLE_STORY
from bot.store.repository import Repository
from bot.store.rows import read_turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.turn import Turn
    from bot.scenes.turn_selection import TurnSelection
    from bot.store.column_values import Value

_WORDS = (
    "state <> 'hidden' AND NOT (kind = 'line' AND NOT EXISTS"
    " (SELECT 1 FROM beats WHERE beats.take_id = turns.take_id))"
)


class StoryRepository(Repository):
    """Reads stories, as `bot.scenes.turn_records.TurnRecords` describes."""

    async def turns(self, scene_id: int, selection: TurnSelection = WHOLE_STORY) -> list[Turn]:
        where, values = _condition(scene_id, selection)
        async with self._database.read() as reading:
            ids = await reading.ids(f"SELECT id FROM turns WHERE {where} ORDER BY id", *values)  # noqa: S608 - our own names
            return await read_turns(reading, ids)

    async def latest_turns(
        self, scene_id: int, most: int, selection: TurnSelection = WHOLE_STORY
    ) -> list[Turn]:
        where, values = _condition(scene_id, selection)
        async with self._database.read() as reading:
            ids = await reading.ids(
                f"SELECT id FROM turns WHERE {where} ORDER BY id DESC LIMIT ?",  # noqa: S608 - our own names
                *values,
                most,
            )
            return await read_turns(reading, ids[::-1])

    async def earliest_turns(
        self, scene_id: int, most: int, selection: TurnSelection = WHOLE_STORY
    ) -> list[Turn]:
        where, values = _condition(scene_id, selection)
        async with self._database.read() as reading:
            ids = await reading.ids(
                f"SELECT id FROM turns WHERE {where} ORDER BY id LIMIT ?",  # noqa: S608 - our own names
                *values,
                most,
            )
            return await read_turns(reading, ids)

    async def count_turns(self, scene_id: int, selection: TurnSelection = WHOLE_STORY) -> int:
        where, values = _condition(scene_id, selection)
        async with self._database.read() as reading:
            found: int = await reading.value(f"SELECT count(*) FROM turns WHERE {where}", *values)  # noqa: S608 - our own names
        return found

    async def latest_replies(self, scene_id: int, characters: Sequence[str]) -> list[Turn]:
        async with self._database.read() as reading:
            ids = await reading.ids(
                "SELECT latest FROM (SELECT (SELECT max(turns.id) FROM turns WHERE scene_id = ?"
                " AND speaker = value AND kind = 'reply' AND state <> 'hidden') AS latest"
                " FROM json_each(?)) WHERE latest IS NOT NULL",
                scene_id,
                json.dumps(list(characters)),
            )
            return await read_turns(reading, ids)

    async def latest_settings(self, scene_id: int, before: int | None = None) -> list[Turn]:
        async with self._database.read() as reading:
            ids = await reading.ids(
                "SELECT max(id) FROM turns WHERE scene_id = ? AND kind = 'setting'"
                " AND state = 'done' AND id < ifnull(?, id + 1) GROUP BY speaker",
                scene_id,
                before,
            )
            return await read_turns(reading, ids)

    async def speakers(self, scene_id: int) -> list[str]:
        # The query jumps from name to name in the index, so a longer story takes no longer.
        async with self._database.read() as reading:
            rows = await reading.rows(
                "WITH RECURSIVE names (name) AS ("
                "SELECT min(speaker) FROM turns WHERE scene_id = ? AND state <> 'hidden'"
                " AND kind <> 'setting' UNION ALL"
                " SELECT (SELECT min(speaker) FROM turns WHERE scene_id = ? AND state <> 'hidden'"
                " AND kind <> 'setting' AND speaker > name) FROM names WHERE name IS NOT NULL)"
                " SELECT name FROM names WHERE name IS NOT NULL",
                scene_id,
                scene_id,
            )
        return [row["name"] for row in rows]

    async def measure_turns(
        self, scene_id: int, character: str, selection: TurnSelection = WHOLE_STORY
    ) -> list[tuple[int, int]]:
        where, values = _condition(scene_id, selection)
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT id, (SELECT ifnull(sum(length(text)), 0) FROM beats"  # noqa: S608 - our own names
                " WHERE beats.take_id = turns.take_id AND (kind IN ('speech', 'action')"
                " OR kind = 'thought' AND turns.speaker = ?)) AS size"
                f" FROM turns WHERE {where} ORDER BY id",
                character,
                *values,
            )
        return [(row["id"], row["size"]) for row in rows]

    async def window_start(self, scene_id: int, character: str) -> int:
        async with self._database.read() as reading:
            found: int | None = await reading.value(
                "SELECT first_turn_id FROM windows WHERE scene_id = ? AND character = ?",
                scene_id,
                character,
            )
        return found or 0

    async def save_window_start(self, scene_id: int, character: str, turn_id: int) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO windows (scene_id, character, first_turn_id) VALUES (?, ?, ?)"
                " ON CONFLICT (scene_id, character) DO UPDATE SET first_turn_id = ?",
                scene_id,
                character,
                turn_id,
                turn_id,
            )


def _condition(scene_id: int, selection: TurnSelection) -> tuple[str, list[Value]]:
    """Return the condition for the selected turns, and its values."""
    parts = ["scene_id = ?", _WORDS, "id >= ?"]
    values: list[Value] = [scene_id, selection.since]
    if selection.before is not None:
        parts.append("id < ?")
        values.append(selection.before)
    if selection.done:
        parts.append("state = 'done'")
    if selection.public:
        parts.append("kind <> 'whisper'")
    if selection.kind is not None:
        parts.append("kind = ?")
        values.append(selection.kind)
    if selection.answering is not None:  # answers come after their line
        parts.append(
            "id > ? AND (answers_id = ?"
            " OR EXISTS (SELECT 1 FROM json_each(also_answers) WHERE value = ?))"
        )
        values += [selection.answering] * 3
    if (character := selection.heard_by) is not None:
        parts.append(
            "(heard_by IS NULL OR speaker = ?"
            " OR EXISTS (SELECT 1 FROM json_each(heard_by) WHERE value = ?))"
        )
        values += [character, character]
    return " AND ".join(parts), values
