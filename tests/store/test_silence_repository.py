"""The stored times of pauses, of muted users and of absent characters."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.scenes.scene import Place, SceneState
from bot.scenes.silences import Silences
from bot.store.database import Database
from bot.store.migrations import MIGRATIONS, migrate
from tests.store.conftest import ELIZA, NOON, begin, from_outside

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.store.store import Store

MINUTE = timedelta(minutes=1)


async def test_a_pause_lasts_from_its_start_to_its_end(store: Store, scene: Scene) -> None:
    paused = replace(scene, state=SceneState.PAUSED)
    await store.save_scene(paused, NOON + MINUTE)
    await store.save_scene(replace(paused, history_cut_announced=True), NOON + 2 * MINUTE)
    await store.save_scene(scene, NOON + 3 * MINUTE)
    is_paused = [
        (await store.silences_at(scene.id, NOON + number * MINUTE)).paused for number in range(5)
    ]
    assert is_paused == [False, True, True, False, False]


async def test_a_user_who_is_muted_and_off_stage_is_silent_until_both_end(
    store: Store, scene: Scene
) -> None:
    part = replace(scene.parts[0], player_id=ELIZA, absent=True)
    absent = replace(scene, parts=(part, *scene.parts[1:]), muted=(ELIZA,))
    await store.save_scene(absent, NOON)
    expected = Silences(False, frozenset({ELIZA}), frozenset({part.character}))
    assert await store.silences_at(scene.id, NOON) == expected
    await store.save_scene(replace(absent, muted=()), NOON + MINUTE)
    assert await store.silences_at(scene.id, NOON + MINUTE) == expected
    await store.save_scene(scene, NOON + 2 * MINUTE)
    assert await store.silences_at(scene.id, NOON + 2 * MINUTE) == Silences()
    assert await store.silences_at(scene.id, NOON + MINUTE) == expected


async def test_scenes_have_their_own_silences(store: Store, scene: Scene) -> None:
    other = await begin(store, channel=501)
    await store.save_scene(replace(scene, state=SceneState.PAUSED), NOON)
    assert await store.silences_at(other.id, NOON) == Silences()


async def test_a_branch_starts_with_the_silences_of_its_cast(store: Store, scene: Scene) -> None:
    absent = replace(scene.parts[0], absent=True)
    await store.save_scene(replace(scene, parts=(absent, *scene.parts[1:])), NOON)
    branch = await store.branch(scene, 0, Place(1, 900, 500), NOON + MINUTE)
    assert await store.silences_at(branch.id, NOON) == Silences()
    silences = await store.silences_at(branch.id, NOON + MINUTE)
    assert silences.characters == frozenset({absent.character})


async def test_a_clear_silences_everything_before_it(store: Store, scene: Scene) -> None:
    await store.clear_story(scene.id, NOON)
    assert (await store.silences_at(scene.id, NOON - MINUTE)).paused
    assert not (await store.silences_at(scene.id, NOON)).paused


async def test_silences_of_an_older_database_began_at_an_unknown_time(path: Path) -> None:
    database = await Database.open(path)
    try:
        await migrate(database, MIGRATIONS[:2])
        async with database.transaction() as transaction:
            for statement in (
                "INSERT INTO scenarios VALUES ('hash', '{}')",
                """INSERT INTO scenes
                    (id, guild_id, channel_id, scenario, state, thoughts, planning, started_at)
                    VALUES (1, 1, 10, 'hash', 'paused', 'gm', 'gm', 0)""",
                "INSERT INTO kicked VALUES (1, 7)",
                """INSERT INTO parts (scene_id, position, character, player_id, absent)
                    VALUES (1, 0, 'A', 7, 1), (1, 1, 'B', 8, 1), (1, 2, 'C', 9, 0)""",
            ):
                await transaction.execute(statement)
        await migrate(database)
    finally:
        await database.close()
    query = "SELECT kind, subject, since, until FROM silences ORDER BY kind, subject"
    assert from_outside(path, query) == [
        ("character", "A", 0, None),
        ("character", "B", 0, None),
        ("pause", "", 0, None),
        ("user", "7", 0, None),
        ("user", "8", 0, None),
    ]
