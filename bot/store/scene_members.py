"""The people of a scene: its game masters, the cast, muted users, and bots that it hears."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.library.scenario import Character
from bot.scenes.scene import OwnCopy, Part
from bot.store.column_values import dump_audience
from bot.store.repository import id_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.store.transaction import Row, Transaction


@dataclass(slots=True)
class SceneMembers:
    """The people of one scene."""

    gm_ids: list[int] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    muted: list[int] = field(default_factory=list)
    bots: list[int] = field(default_factory=list)


async def write_people(
    transaction: Transaction,
    scene_id: int,
    gm_ids: Sequence[int],
    parts: Sequence[Part],
    muted: Sequence[int] = (),
    bots: Sequence[int] = (),
) -> None:
    """Replace the stored people of a scene."""
    await _freeze_audiences(transaction, scene_id, parts)
    for table in ("scene_gms", "parts", "kicked", "scene_bots"):
        await transaction.execute(f"DELETE FROM {table} WHERE scene_id = ?", scene_id)  # noqa: S608 - our own names
    await transaction.insert_all(
        "INSERT INTO scene_gms (scene_id, position, user_id) VALUES (?, ?, ?)",
        [(scene_id, position, user_id) for position, user_id in enumerate(gm_ids)],
    )
    await transaction.insert_all(
        "INSERT INTO parts (scene_id, position, character, player_id, role_id, rests, absent,"
        " own_id, owner_id, own_json, persona_of) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                scene_id,
                position,
                part.character,
                part.player_id,
                part.role_id,
                part.rests,
                part.absent,
                part.own.own_id if part.own else None,
                part.own.owner_id if part.own else None,
                part.own.character.model_dump_json(exclude_defaults=True) if part.own else None,
                part.persona_of,
            )
            for position, part in enumerate(parts)
        ],
    )
    await transaction.insert_all(
        "INSERT INTO kicked (scene_id, user_id) VALUES (?, ?)",
        [(scene_id, user_id) for user_id in muted],
    )
    await transaction.insert_all(
        "INSERT INTO scene_bots (scene_id, user_id) VALUES (?, ?)",
        [(scene_id, user_id) for user_id in bots],
    )


async def read_people(reading: Transaction, scene_ids: Sequence[int]) -> dict[int, SceneMembers]:
    """Return the people of each of these scenes. Takes four queries for any number of scenes."""
    people: dict[int, SceneMembers] = defaultdict(SceneMembers)
    for row in await _rows(reading, "scene_gms", "position", scene_ids):
        people[row["scene_id"]].gm_ids.append(row["user_id"])
    for row in await _rows(reading, "parts", "position", scene_ids):
        people[row["scene_id"]].parts.append(_part(row))
    for row in await _rows(reading, "kicked", "user_id", scene_ids):
        people[row["scene_id"]].muted.append(row["user_id"])
    for row in await _rows(reading, "scene_bots", "user_id", scene_ids):
        people[row["scene_id"]].bots.append(row["user_id"])
    return people


async def _rows(
    reading: Transaction, table: str, order: str, scene_ids: Sequence[int]
) -> list[Row]:
    return await reading.rows(
        f"SELECT * FROM {table} WHERE scene_id IN"  # noqa: S608 - our own names
        " (SELECT value FROM json_each(?)) ORDER BY "
        f"scene_id, {order}",
        id_list(scene_ids),
    )


async def _freeze_audiences(transaction: Transaction, scene_id: int, parts: Sequence[Part]) -> None:
    """Before a character joins or leaves the cast, name the characters that heard each turn.

    A turn that everyone heard stores no names, so a newcomer would have heard it too.
    """
    query = "SELECT character FROM parts WHERE scene_id = ?"
    before = {row["character"] for row in await transaction.rows(query, scene_id)}
    if before and before != {part.character for part in parts}:
        await transaction.execute(
            "UPDATE turns SET heard_by = ? WHERE scene_id = ? AND heard_by IS NULL",
            dump_audience(frozenset(before)),
            scene_id,
        )


def _part(row: Row) -> Part:
    own = None
    if row["own_json"] is not None:
        character = Character.model_validate_json(row["own_json"])
        own = OwnCopy(row["own_id"], row["owner_id"], character)
    return Part(
        row["character"],
        row["player_id"],
        row["role_id"],
        bool(row["rests"]),
        bool(row["absent"]),
        own,
        row["persona_of"],
    )
