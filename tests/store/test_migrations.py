from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from bot.errors import StoreError
from bot.scenes.scene import JoinPolicy, Part
from bot.store.database import Database
from bot.store.migrations import MIGRATIONS, migrate, other_bots
from bot.store.store import Store
from tests.store.conftest import NOON, a_scenario, begin, from_outside, narrate

if TYPE_CHECKING:
    from pathlib import Path

    from bot.store.transaction import Transaction


LATEST = len(MIGRATIONS)


async def moods(transaction: Transaction) -> None:
    """Give every turn a mood."""
    await transaction.execute("ALTER TABLE turns ADD COLUMN mood TEXT")


async def takes_anew(transaction: Transaction) -> None:
    """Rebuild a table that others refer to. SQLite requires this for larger changes."""
    await transaction.execute(
        "CREATE TABLE takes_new (id INTEGER PRIMARY KEY, turn_id INTEGER, raw TEXT)"
    )
    await transaction.execute("INSERT INTO takes_new SELECT id, turn_id, raw FROM takes")
    await transaction.execute("DROP TABLE takes")
    await transaction.execute("ALTER TABLE takes_new RENAME TO takes")


async def half_done(transaction: Transaction) -> None:
    """Fail after making a change."""
    await transaction.execute("ALTER TABLE turns ADD COLUMN half TEXT")
    await transaction.execute("ALTER TABLE no_such_table ADD COLUMN other TEXT")


async def pointing_nowhere(transaction: Transaction) -> None:
    """Leave rows that refer to missing rows."""
    await transaction.execute("DELETE FROM scenes")


async def upgrade(path: Path, *steps: object) -> None:
    database = await Database.open(path)
    try:
        await migrate(database, (*MIGRATIONS, *steps))  # type: ignore[arg-type]
    finally:
        await database.close()


def columns(path: Path, table: str) -> list[object]:
    return [row[1] for row in from_outside(path, f"PRAGMA table_info({table})")]


@pytest.fixture
async def played(path: Path) -> Path:
    """A database of the latest schema with a turn in it."""
    async with await Store.open(path) as store:
        scene = await begin(store)
        await narrate(store, scene.id, "It rains.", None, NOON)
    return path


async def test_a_new_file_gets_the_latest_schema(path: Path) -> None:
    await (await Store.open(path)).close()
    assert from_outside(path, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert not list(path.parent.glob("*.schema-*"))


async def test_opening_again_changes_nothing(played: Path) -> None:
    before = from_outside(played, "SELECT * FROM sqlite_master")
    await (await Store.open(played)).close()
    assert from_outside(played, "SELECT * FROM sqlite_master") == before


async def test_an_older_database_is_copied_before_its_migration(played: Path) -> None:
    await upgrade(played, moods)
    assert "mood" in columns(played, "turns")
    copy = played.with_name(f"aside.db.schema-{LATEST}")
    assert "mood" not in columns(copy, "turns")
    assert from_outside(copy, "SELECT count(*) FROM turns") == [(1,)]
    assert copy.stat().st_mode & 0o077 == 0


async def test_rebuilding_a_table_keeps_the_rows_that_refer_to_it(played: Path) -> None:
    await upgrade(played, takes_anew)
    assert from_outside(played, "SELECT text FROM beats") == [("It rains.",)]


@pytest.mark.parametrize("step", [half_done, pointing_nowhere])
async def test_a_failed_migration_leaves_the_database_unchanged(played: Path, step: object) -> None:
    with pytest.raises(StoreError):
        await upgrade(played, moods, step)
    assert from_outside(played, "PRAGMA user_version") == [(LATEST + 1,)]
    assert "mood" in columns(played, "turns")
    assert "half" not in columns(played, "turns")
    assert from_outside(played, "SELECT count(*) FROM scenes") == [(1,)]


async def test_a_failed_migration_can_be_retried(played: Path) -> None:
    for _ in range(2):
        with pytest.raises(StoreError):
            await upgrade(played, half_done)
    await upgrade(played, moods)
    assert "mood" in columns(played, "turns")


async def test_a_failed_copy_stops_the_migration(played: Path) -> None:
    played.with_name(f"aside.db.schema-{LATEST}").mkdir()
    with pytest.raises(StoreError, match=rf"schema-{LATEST} is a folder"):
        await upgrade(played, moods)
    assert "mood" not in columns(played, "turns")


async def test_a_database_of_a_newer_aside_is_left_unchanged(played: Path) -> None:
    from_outside(played, "PRAGMA user_version = 99")
    with pytest.raises(StoreError, match=r"newer Aside.*Install the latest"):
        await Store.open(played)
    assert from_outside(played, "PRAGMA user_version") == [(99,)]


async def test_foreign_keys_are_enforced_after_a_migration(played: Path) -> None:
    await upgrade(played, moods)
    database = await Database.open(played)
    await migrate(database, (*MIGRATIONS, moods))
    try:
        with pytest.raises(StoreError) as caught:
            async with database.transaction() as transaction:
                await transaction.execute("UPDATE turns SET scene_id = 99")
        assert isinstance(caught.value.__cause__, sqlite3.IntegrityError)
    finally:
        await database.close()


async def test_posted_thoughts_keep_the_decision_of_their_scene(path: Path) -> None:
    database = await Database.open(path)
    try:
        await migrate(database, MIGRATIONS[:1])
        async with database.transaction() as transaction:
            for statement in (
                "INSERT INTO scenarios VALUES ('hash', '{}')",
                """INSERT INTO scenes
                    (id, guild_id, channel_id, scenario, state, thoughts, planning, started_at)
                    VALUES (1, 1, 10, 'hash', 'playing', 'spoiler', 'off', 0)""",
                """INSERT INTO turns (id, scene_id, kind, speaker, state, created_at) VALUES
                    (1, 1, 'reply', 'Mr Bennet', 'done', 0),
                    (2, 1, 'reply', 'Mr Bennet', 'thinking', 0)""",
                "INSERT INTO takes (id, turn_id, number, raw) VALUES (1, 1, 1, ''), (2, 2, 1, '')",
                """INSERT INTO beats VALUES (1, 0, 'planning', 'a'), (1, 1, 'thought', 'b'),
                    (1, 2, 'speech', 'c'), (2, 0, 'thought', 'd')""",
            ):
                await transaction.execute(statement)
        await migrate(database)
    finally:
        await database.close()
    assert from_outside(path, "SELECT text, destination FROM beats ORDER BY text") == [
        ("a", "off"),
        ("b", "spoiler"),
        ("c", None),
        ("d", None),
    ]


async def test_lines_get_the_channel_of_their_scene_unless_it_moved(path: Path) -> None:
    database = await Database.open(path)
    try:
        await migrate(database, MIGRATIONS[:4])
        async with database.transaction() as transaction:
            for statement in (
                "INSERT INTO scenarios VALUES ('hash', '{}')",
                """INSERT INTO scenes (id, guild_id, channel_id, scenario, state, thoughts,
                    planning, started_at, first_message_id)
                    VALUES (1, 1, 10, 'hash', 'playing', 'gm', 'gm', 0, NULL),
                    (2, 1, 20, 'hash', 'playing', 'gm', 'gm', 0, 500)""",
                """INSERT INTO turns (scene_id, kind, speaker, state, created_at, message_id)
                    VALUES (1, 'line', 'Lizzy', 'done', 0, 400),
                    (2, 'line', 'Lizzy', 'done', 0, 401), (2, 'line', 'Lizzy', 'done', 0, 501),
                    (2, 'narration', 'Environment', 'done', 0, NULL)""",
            ):
                await transaction.execute(statement)
        await migrate(database)
    finally:
        await database.close()
    assert from_outside(path, "SELECT message_id, channel_id FROM turns ORDER BY id") == [
        (400, 10),
        (401, None),
        (501, 20),
        (None, None),
    ]
    assert from_outside(path, "SELECT count(*) FROM unreachable") == [(0,)]


async def test_scenes_from_before_own_characters_ask_about_them(path: Path) -> None:
    database = await Database.open(path)
    try:
        await migrate(database, MIGRATIONS[:7])
        async with database.transaction() as transaction:
            scenario = a_scenario().model_dump_json()
            await transaction.execute("INSERT INTO scenarios VALUES ('hash', ?)", scenario)
            await transaction.execute(
                "INSERT INTO scenes"
                " (id, guild_id, channel_id, scenario, state, thoughts, planning, started_at)"
                " VALUES (1, 1, 10, 'hash', 'playing', 'gm', 'gm', 0)"
            )
            await transaction.execute(
                "INSERT INTO parts (scene_id, position, character, player_id)"
                " VALUES (1, 0, 'Elizabeth', 22)"
            )
    finally:
        await database.close()
    async with await Store.open(path) as store:
        scene = await store.scene(1)
        assert scene
        assert scene.join_policy is JoinPolicy.ASK
        assert scene.parts == (Part("Elizabeth", player_id=22),)
        assert await store.characters_of(22) == []


async def test_an_older_database_learns_about_other_bots(path: Path) -> None:
    database = await Database.open(path)
    try:
        await migrate(database, MIGRATIONS[: MIGRATIONS.index(other_bots)])
        async with database.transaction() as transaction:
            for statement in (
                "INSERT INTO scenarios VALUES ('hash', '{}')",
                """INSERT INTO scenes (id, guild_id, channel_id, scenario, state, thoughts,
                    planning, started_at) VALUES (1, 1, 10, 'hash', 'playing', 'gm', 'gm', 0)""",
                """INSERT INTO turns (id, scene_id, kind, speaker, state, created_at, message_id)
                    VALUES (1, 1, 'line', 'Lizzy', 'done', 0, 400)""",
            ):
                await transaction.execute(statement)
        await migrate(database)
    finally:
        await database.close()
    for table in (
        "replaced_messages",
        "server_proxies",
        "scene_bots",
        "explained",
        "insights",
        "insight_difficulties",
    ):
        assert from_outside(path, f"SELECT count(*) FROM {table}") == [(0,)]
    assert from_outside(path, "SELECT message_id FROM turns") == [(400,)]
