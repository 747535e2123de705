"""Scenes with their game masters and casts.

Scenes of one scenario share one row and one object in memory.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from pydantic import ValidationError

from bot.errors import Refused, Remedy, StoreError
from bot.library.scenario import Scenario, add_character
from bot.scenes.reveal import Destination, RevealPolicy
from bot.scenes.scene import AT_TERMINAL, JoinPolicy, Mode, Place, Scene, SceneState
from bot.store.column_values import from_microseconds, to_microseconds
from bot.store.repository import Repository, id_list
from bot.store.scene_members import read_people, write_people
from bot.store.silence_repository import write_silences

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.scenes.scene import Part
    from bot.store.database import Database
    from bot.store.scene_members import SceneMembers
    from bot.store.transaction import Row, Transaction


class SceneRepository(Repository):
    """Stores scenes, as `bot.scenes.scene_store.SceneStore` describes."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._scenarios: WeakValueDictionary[str, Scenario] = WeakValueDictionary()

    async def add_scene(
        self,
        place: Place,
        scenario: Scenario,
        gm_ids: Sequence[int],
        parts: Sequence[Part],
        now: datetime,
    ) -> Scene:
        async with self._database.transaction() as transaction:
            await require_free_channel(transaction, place.channel_id)
            scene_id = await transaction.insert(
                "INSERT INTO scenes (guild_id, channel_id, parent_id, scenario, state, "
                "thoughts, planning, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                place.guild_id,
                place.channel_id,
                place.parent_id,
                await self._store_scenario(transaction, scenario),
                SceneState.PLAYING,
                RevealPolicy().thoughts,
                RevealPolicy().planning,
                to_microseconds(now),
            )
            await write_people(transaction, scene_id, gm_ids, parts)
            scenes = await self._scenes(transaction, "SELECT * FROM scenes WHERE id = ?", scene_id)
        return scenes[0]

    async def save_scene(self, scene: Scene, now: datetime) -> None:
        async with self._database.transaction() as transaction:
            if scene.state is not SceneState.ENDED:
                await require_free_channel(transaction, scene.place.channel_id, scene.id)
            await _write(transaction, scene, now)

    async def delete_scene(self, scene_id: int) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM memories WHERE scene_id = ?", scene_id)
            await transaction.execute("DELETE FROM scenes WHERE id = ?", scene_id)
            await transaction.execute(
                "DELETE FROM scenarios WHERE hash NOT IN (SELECT scenario FROM scenes)"
            )

    async def find_unused_roles(self, guild_id: int) -> list[int]:
        async with self._database.read() as reading:
            return await reading.ids(
                "SELECT DISTINCT role_id FROM parts JOIN scenes ON scenes.id = scene_id"
                " WHERE guild_id = ? AND role_id IS NOT NULL GROUP BY role_id"
                " HAVING sum(state <> 'ended') = 0",
                guild_id,
            )

    async def forget_roles(self, role_ids: Sequence[int]) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE parts SET role_id = NULL WHERE role_id IN (SELECT value FROM json_each(?))",
                id_list(role_ids),
            )

    async def move_scene(self, scene: Scene, heard: int, now: datetime) -> None:
        async with self._database.transaction() as transaction:
            await require_free_channel(transaction, scene.place.channel_id, scene.id)
            moved = await transaction.execute(
                "UPDATE scenes SET guild_id = ?, channel_id = ?, parent_id = ?,"
                " last_message_id = ? WHERE id = ? AND (state = 'ended' OR channel_id < 0)",
                scene.place.guild_id,
                scene.place.channel_id,
                scene.place.parent_id,
                heard,
                scene.id,
            )
            if not moved:
                raise Refused("That scene is already under way in another place.")
            await transaction.execute(
                "UPDATE turns SET author_id = ? WHERE scene_id = ? AND author_id = ?",
                scene.gm_ids[0],
                scene.id,
                AT_TERMINAL,
            )
            await _write(transaction, scene, now)

    async def open_scenes(self) -> list[Scene]:
        async with self._database.read() as reading:
            return await self._scenes(
                reading, "SELECT * FROM scenes WHERE state <> 'ended' ORDER BY id"
            )

    async def latest_scenes(self, most: int) -> list[Scene]:
        async with self._database.read() as reading:
            return await self._scenes(
                reading, "SELECT * FROM scenes ORDER BY id DESC LIMIT ?", most
            )

    async def find_resting_scenes(self, guild_id: int, gm_ids: Sequence[int]) -> list[Scene]:
        async with self._database.read() as reading:
            return await self._scenes(
                reading,
                "SELECT * FROM scenes WHERE guild_id IN (?, ?) AND (state = 'ended' OR "
                "channel_id < 0) AND id IN (SELECT scene_id FROM scene_gms WHERE user_id IN "
                "(SELECT value FROM json_each(?))) ORDER BY id DESC",
                guild_id,
                AT_TERMINAL,
                id_list(gm_ids),
            )

    async def scene(self, scene_id: int) -> Scene | None:
        async with self._database.read() as reading:
            return next(
                iter(await self._scenes(reading, "SELECT * FROM scenes WHERE id = ?", scene_id)),
                None,
            )

    async def _scenes(
        self, reading: Transaction, query: str, *values: int | str | None
    ) -> list[Scene]:
        rows = await reading.rows(query, *values)
        scenarios = await self._read_scenarios(reading, {row["scenario"] for row in rows})
        people = await read_people(reading, [row["id"] for row in rows])
        return [_scene(row, scenarios[row["scenario"]], people[row["id"]]) for row in rows]

    async def _store_scenario(self, transaction: Transaction, scenario: Scenario) -> str:
        """Store a scenario if it is new, and return its key."""
        json = scenario.model_dump_json()
        key = hashlib.sha256(json.encode()).hexdigest()
        await transaction.execute(
            "INSERT INTO scenarios (hash, json) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
            key,
            json,
        )
        self._scenarios.setdefault(key, scenario)
        return key

    async def _read_scenarios(self, reading: Transaction, keys: set[str]) -> dict[str, Scenario]:
        found: dict[str, Scenario] = {}
        for key in keys:
            found[key] = self._scenarios.get(key) or _scenario(
                await reading.value("SELECT json FROM scenarios WHERE hash = ?", key)
            )
            self._scenarios[key] = found[key]
        return found


def _scenario(json: str) -> Scenario:
    try:
        return Scenario.model_validate_json(json)
    except ValidationError as error:
        raise StoreError(
            "A scenario in the database can't be read. Update Aside, or report this."
        ) from error


def _scene(row: Row, scenario: Scenario, people: SceneMembers) -> Scene:
    return Scene(
        id=row["id"],
        place=Place(row["guild_id"], row["channel_id"], row["parent_id"]),
        scenario=_add_own_characters(scenario, people.parts),
        gm_ids=tuple(people.gm_ids),
        parts=tuple(people.parts),
        started_at=from_microseconds(row["started_at"]),
        state=SceneState(row["state"]),
        reveal=RevealPolicy(
            thoughts=Destination(row["thoughts"]), planning=Destination(row["planning"])
        ),
        history_cut_announced=bool(row["history_cut_told"]),
        mode=Mode(row["mode"]),
        budget=row["budget"],
        muted=tuple(people.muted),
        join_policy=JoinPolicy(row["join_policy"]),
        bots=tuple(people.bots),
    )


def _add_own_characters(scenario: Scenario, parts: Sequence[Part]) -> Scenario:
    """Return the scene's own copy of a scenario. Without own characters, all scenes share one."""
    for part in parts:
        if part.own is not None:
            scenario = add_character(scenario, part.own.character)
    return scenario


async def require_free_channel(transaction: Transaction, channel_id: int, itself: int = 0) -> None:
    """Raise Refused if a scene other than `itself` is under way in that channel."""
    query = "SELECT id FROM scenes WHERE channel_id = ? AND state <> 'ended' AND id <> ?"
    if await transaction.row(query, channel_id, itself):
        raise Refused("A scene is already under way in this channel.", Remedy.END_SCENE)


async def _write(transaction: Transaction, scene: Scene, now: datetime) -> None:
    """Write the columns of a scene that can change without a move."""
    changed = await transaction.execute(
        "UPDATE scenes SET state = ?, thoughts = ?, planning = ?, history_cut_told = ?, mode "
        "= ?, budget = ?, join_policy = ? WHERE id = ?",
        scene.state,
        scene.reveal.thoughts,
        scene.reveal.planning,
        scene.history_cut_announced,
        scene.mode,
        scene.budget,
        scene.join_policy,
        scene.id,
    )
    if not changed:
        raise StoreError(f"Scene {scene.id} was deleted. Start a new one.")
    await write_people(transaction, scene.id, scene.gm_ids, scene.parts, scene.muted, scene.bots)
    await write_silences(transaction, scene, now)
