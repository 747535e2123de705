from __future__ import annotations

import sqlite3
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import Refused, StoreError
from bot.scenes.reveal import Destination, RevealPolicy
from bot.scenes.scene import Part, Place, SceneState
from bot.store.store import Store
from tests.store.conftest import ELIZA, GM, NOON, a_line, a_scenario, begin, from_outside

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene

INJECTION = "'); DROP TABLE scenes; --"


async def test_a_new_scene_is_stored_completely(store: Store, scene: Scene) -> None:
    assert (scene.place, scene.scenario, scene.gm_ids) == (Place(1, 500), a_scenario(), (GM,))
    assert scene.parts == (Part("Mr Bennet"), Part("Elizabeth", ELIZA, 77), Part("Mr Darcy"))
    assert (scene.started_at, scene.state, scene.reveal) == (
        NOON,
        SceneState.PLAYING,
        RevealPolicy(),
    )
    assert await store.scene(scene.id) == scene
    assert await store.open_scenes() == [scene]


async def test_a_threads_parent_channel_is_stored(store: Store) -> None:
    scene = await store.add_scene(Place(1, 501, parent_id=500), a_scenario(), (), (), NOON)
    assert await store.open_scenes() == [scene]
    assert scene.place.webhook_channel_id == 500


async def test_a_scene_survives_a_restart(path: Path) -> None:
    async with await Store.open(path) as store:
        scene = await begin(store)
    async with await Store.open(path) as store:
        assert await store.open_scenes() == [scene]


async def test_all_changes_of_a_scene_are_saved(store: Store, scene: Scene) -> None:
    changed = replace(
        scene,
        state=SceneState.PAUSED,
        reveal=RevealPolicy(thoughts=Destination.SPOILER, planning=Destination.OFF),
        gm_ids=(44, GM),
        parts=(Part("Mr Darcy", player_id=55), Part("Mr Bennet")),
        history_cut_announced=True,
    )
    await store.save_scene(changed, NOON)
    assert await store.scene(scene.id) == changed


async def test_a_second_scene_in_a_channel_is_refused(store: Store, scene: Scene) -> None:
    with pytest.raises(Refused, match="under way"):
        await begin(store)
    await store.save_scene(replace(scene, state=SceneState.PAUSED), NOON)
    with pytest.raises(Refused, match="under way"):
        await begin(store)
    await store.save_scene(replace(scene, state=SceneState.ENDED), NOON)
    second = await begin(store)
    assert await store.open_scenes() == [second]
    with pytest.raises(Refused, match="under way"):
        await store.save_scene(replace(scene, state=SceneState.PLAYING), NOON)


async def test_the_schema_rejects_a_second_scene_in_a_channel(
    path: Path, store: Store, scene: Scene
) -> None:
    await begin(store, channel=501)
    with pytest.raises(sqlite3.IntegrityError):
        from_outside(path, f"UPDATE scenes SET channel_id = {scene.place.channel_id}")


async def test_an_ended_scene_can_still_be_read(store: Store, scene: Scene) -> None:
    ended = replace(scene, state=SceneState.ENDED)
    await store.save_scene(ended, NOON)
    assert await store.open_scenes() == []
    assert await store.scene(scene.id) == ended
    assert await store.scene(99) is None


async def test_saving_a_deleted_scene_fails(store: Store, scene: Scene) -> None:
    await store.forget_server(1)
    with pytest.raises(StoreError, match="was deleted"):
        await store.save_scene(scene, NOON)


async def test_a_scene_keeps_its_own_copy_of_the_scenario(store: Store) -> None:
    first = await begin(store, 500, a_scenario("As it was"))
    second = await begin(store, 501, a_scenario("As it became"))
    assert [scene.scenario.title for scene in await store.open_scenes()] == [
        "As it was",
        "As it became",
    ]
    assert first.scenario.id == second.scenario.id


async def test_sql_in_a_scenario_or_a_name_stays_text(store: Store) -> None:
    scenario = a_scenario(INJECTION, INJECTION.replace(";", ","))
    scene = await store.add_scene(Place(1, 500), scenario, (), (Part(INJECTION),), NOON)
    assert scene.scenario == scenario
    assert scene.parts == (Part(INJECTION),)


async def test_a_thousand_idle_scenes_share_one_scenario(path: Path) -> None:
    long = a_scenario().model_copy(
        update={"background": "It is a truth universally acknowledged. " * 400}
    )
    async with await Store.open(path) as store:
        await begin(store, channel=0, scenario=long)
    from_outside(
        path,
        "WITH RECURSIVE n (channel) AS"
        " (SELECT 1 UNION ALL SELECT channel + 1 FROM n WHERE channel < 999)"
        " INSERT INTO scenes"
        " (guild_id, channel_id, scenario, state, thoughts, planning, started_at)"
        " SELECT 1, channel, scenario, state, thoughts, planning, started_at FROM scenes, n",
    )
    async with await Store.open(path) as store:
        tracemalloc.start()
        scenes = await store.open_scenes()
        used, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(scenes) == 1000
    assert len({id(scene.scenario) for scene in scenes}) == 1
    assert used / len(scenes) < 2_000  # bytes


async def test_all_scenes_of_a_scenario_share_its_row(path: Path, store: Store) -> None:
    for channel in range(3):
        await begin(store, channel)
    assert from_outside(path, "SELECT count(*) FROM scenarios") == [(1,)]


async def test_an_unreadable_scenario_is_reported(path: Path) -> None:
    async with await Store.open(path) as store:
        await begin(store)
    from_outside(path, "UPDATE scenarios SET json = '{}'")
    async with await Store.open(path) as store:
        with pytest.raises(StoreError, match="scenario"):
            await store.open_scenes()


async def test_a_deleted_scene_leaves_no_rows(path: Path, store: Store, scene: Scene) -> None:
    await store.add_line(scene.id, a_line("MARMALADE", message=900), ("Mr Bennet",), NOON)
    await store.save_scene(replace(scene, state=SceneState.PAUSED), NOON)
    await store.delete_scene(scene.id)
    assert await store.scene(scene.id) is None
    for table in ("scenes", "scenarios", "turns", "takes", "beats", "parts", "silences"):
        assert from_outside(path, f"SELECT count(*) FROM {table}") == [(0,)], table


async def test_only_roles_of_ended_scenes_are_unused(store: Store, scene: Scene) -> None:
    other = await begin(store, channel=501)
    with_roles = replace(scene, parts=_give_roles(scene, 70), state=SceneState.ENDED)
    await store.save_scene(with_roles, NOON)
    shared = replace(other.parts[0], role_id=70)
    await store.save_scene(replace(other, parts=(shared, *other.parts[1:])), NOON)
    unused = await store.find_unused_roles(1)
    assert 70 not in unused
    assert 71 in unused
    await store.forget_roles(unused)
    assert await store.find_unused_roles(1) == []
    assert await store.find_unused_roles(2) == []


def _give_roles(scene: Scene, first: int) -> tuple[Part, ...]:
    return tuple(replace(part, role_id=first + number) for number, part in enumerate(scene.parts))
