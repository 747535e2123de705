"""Branches: a copy of a scene and of its story up to one turn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bot.errors import StoreError
from bot.scenes.scene import SceneState
from bot.scenes.turn import TurnState
from bot.store.column_values import to_microseconds
from bot.store.scene_repository import SceneRepository, require_free_channel
from bot.store.silence_repository import write_silences

if TYPE_CHECKING:
    from datetime import datetime

    from bot.scenes.scene import Place, Scene
    from bot.store.column_values import Value
    from bot.store.transaction import Row, Transaction


class BranchRepository(SceneRepository):
    """Copies scenes to other places, as `bot.scenes.scene_store.SceneStore` describes."""

    async def branch(self, scene: Scene, last_id: int, place: Place, now: datetime) -> Scene:
        async with self._database.transaction() as transaction:
            await require_free_channel(transaction, place.channel_id)
            row = await transaction.row("SELECT * FROM scenes WHERE id = ?", scene.id)
            if row is None:
                raise StoreError(f"Scene {scene.id} was deleted. Start a new one.")
            scene_id = await _copy(
                transaction,
                "scenes",
                row,
                id=None,
                guild_id=place.guild_id,
                channel_id=place.channel_id,
                parent_id=place.parent_id,
                state=SceneState.PLAYING,
                started_at=to_microseconds(now),
                last_message_id=None,
            )
            for table in (
                "scene_gms",
                "parts",
                "kicked",
                "scene_bots",
                "notes",
                "insight_difficulties",
            ):
                query = f"SELECT * FROM {table} WHERE scene_id = ?"  # noqa: S608 - our own names
                for one in await transaction.rows(query, scene.id):
                    await _copy(transaction, table, one, scene_id=scene_id, **_new_id(one))
            await _copy_story(transaction, scene.id, last_id, scene_id)
            scenes = await self._scenes(transaction, "SELECT * FROM scenes WHERE id = ?", scene_id)
            await write_silences(transaction, scenes[0], now)
            return scenes[0]


async def _copy_story(
    transaction: Transaction, scene_id: int, last_id: int, branch_id: int
) -> None:
    copies: dict[int, int] = {}
    for row in await transaction.rows(
        "SELECT * FROM turns WHERE scene_id = ? AND id <= ? AND state = ? AND take_id IS NOT "
        "NULL ORDER BY id",
        scene_id,
        last_id,
        TurnState.DONE,
    ):
        answered = [
            copies[line] for line in json.loads(row["also_answers"] or "[]") if line in copies
        ]
        copies[row["id"]] = turn_id = await _copy(
            transaction,
            "turns",
            row,
            id=None,
            scene_id=branch_id,
            message_id=None,  # the message belongs to the turn that is copied
            channel_id=None,
            source_id=row["source_id"] or row["id"],
            take_id=None,
            former_id=None,
            answers_id=copies.get(row["answers_id"]),
            also_answers=json.dumps(answered) if answered else None,
        )
        await _copy_take(transaction, row["take_id"], turn_id)
    await _copy_memories(transaction, scene_id, last_id, branch_id, copies)
    for row in await transaction.rows("SELECT * FROM windows WHERE scene_id = ?", scene_id):
        starts = (copy for turn_id, copy in copies.items() if turn_id >= row["first_turn_id"])
        if start := next(starts, None):
            await _copy(transaction, "windows", row, scene_id=branch_id, first_turn_id=start)


async def _copy_memories(
    transaction: Transaction, scene_id: int, last_id: int, branch_id: int, turns: dict[int, int]
) -> None:
    """Copy the memories that rest only on copied turns, the upper layers first."""
    memories: dict[int, int] = {}
    for row in await transaction.rows(
        "SELECT * FROM memories WHERE scene_id = ? AND last_id <= ? ORDER BY layer DESC, id",
        scene_id,
        last_id,
    ):
        within = [copy for turn, copy in turns.items() if row["first_id"] <= turn <= row["last_id"]]
        rests_on = [turns[turn] for turn in json.loads(row["turn_ids"]) if turn in turns]
        if not within:
            continue
        memories[row["id"]] = await _copy(
            transaction,
            "memories",
            row,
            id=None,
            scene_id=branch_id,
            first_id=within[0],
            last_id=within[-1],
            turn_ids=json.dumps(rests_on),
            parent_id=memories.get(row["parent_id"]),
        )


async def _copy_take(transaction: Transaction, take_id: int, turn_id: int) -> None:
    for row in await transaction.rows("SELECT * FROM takes WHERE id = ?", take_id):
        copy_id = await _copy(transaction, "takes", row, id=None, turn_id=turn_id, number=1)
        for beat in await transaction.rows("SELECT * FROM beats WHERE take_id = ?", take_id):
            await _copy(transaction, "beats", beat, take_id=copy_id)
        for opened in await transaction.rows("SELECT * FROM insights WHERE take_id = ?", take_id):
            await _copy(transaction, "insights", opened, take_id=copy_id, turn_id=turn_id)
        await transaction.execute("UPDATE turns SET take_id = ? WHERE id = ?", copy_id, turn_id)


def _new_id(row: Row) -> dict[str, Value]:
    """Return the column that gives a copy an id of its own, if the table has ids."""
    return {"id": None} if "id" in row.keys() else {}  # noqa: SIM118 - a row's `in` looks at its values


async def _copy(transaction: Transaction, table: str, row: Row, **changed: Value) -> int:
    """Insert `row` again with the `changed` columns replaced, and return the new id.

    Copies every column, so that a new column needs no change here.
    """
    columns = row.keys()
    values = [changed[column] if column in changed else row[column] for column in columns]
    holders = ", ".join("?" * len(columns))
    query = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({holders})"  # noqa: S608 - our own names
    return await transaction.insert(query, *values)
