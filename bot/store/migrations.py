"""The schema, as numbered migrations. Never change a migration that has shipped. Add a new one."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from typing import TYPE_CHECKING, TypeAlias

from bot.errors import StoreError
from bot.store import sqlite_errors
from bot.store.memory_triggers import MEMORY_TRIGGERS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from bot.store.database import Database
    from bot.store.transaction import Transaction

Migration: TypeAlias = "Callable[[Transaction], Awaitable[None]]"

STRICT = "STRICT" if sqlite3.sqlite_version_info >= (3, 37) else ""


async def scenes_turns_posts(transaction: Transaction) -> None:
    """Migration 1: scenes and their cast, turns with takes and beats, posts, webhooks, named
    values.
    """
    for statement in (*_SCENES, *_TURNS, *_POSTS):
        await transaction.execute(statement)


# All scenes of one scenario share its row. The key is the SHA-256 of its JSON. AUTOINCREMENT: ids
# of scenes, turns and takes are never used again, because buttons on Discord carry them for ever.
_SCENES = (
    f"""CREATE TABLE scenarios (hash TEXT PRIMARY KEY, json TEXT NOT NULL) {STRICT}""",
    f"""CREATE TABLE scenes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        guild_id INTEGER NOT NULL,
        channel_id INTEGER NOT NULL,
        parent_id INTEGER,
        scenario TEXT NOT NULL REFERENCES scenarios (hash),
        state TEXT NOT NULL,
        thoughts TEXT NOT NULL,
        planning TEXT NOT NULL,
        history_cut_told INTEGER NOT NULL DEFAULT 0,
        mode TEXT NOT NULL DEFAULT 'addressed',
        budget INTEGER NOT NULL DEFAULT 3,
        started_at INTEGER NOT NULL,
        last_message_id INTEGER
    ) {STRICT}""",
    "CREATE UNIQUE INDEX scenes_open ON scenes (channel_id) WHERE state <> 'ended'",
    "CREATE INDEX scenes_scenario ON scenes (scenario)",
    "CREATE INDEX scenes_guild ON scenes (guild_id)",
    f"""CREATE TABLE scene_gms (
        scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        user_id INTEGER NOT NULL,
        PRIMARY KEY (scene_id, position)
    ) {STRICT}""",
    "CREATE INDEX scene_gms_user ON scene_gms (user_id)",
    f"""CREATE TABLE parts (
        scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        character TEXT NOT NULL,
        player_id INTEGER,
        role_id INTEGER,
        rests INTEGER NOT NULL DEFAULT 0,
        absent INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (scene_id, position)
    ) {STRICT}""",
    "CREATE INDEX parts_player ON parts (player_id)",
    f"""CREATE TABLE kicked (
        scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
        user_id INTEGER NOT NULL,
        PRIMARY KEY (scene_id, user_id)
    ) {STRICT}""",
    f"""CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
        character TEXT,
        text TEXT NOT NULL,
        author_id INTEGER NOT NULL,
        created_at INTEGER NOT NULL
    ) {STRICT}""",
    "CREATE INDEX notes_scene ON notes (scene_id)",
    "CREATE INDEX notes_author ON notes (author_id)",
)
_TURNS = (
    f"""CREATE TABLE turns (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        speaker TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        take_id INTEGER REFERENCES takes (id) ON DELETE SET NULL,
        author_id INTEGER,
        message_id INTEGER UNIQUE,
        answers_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,
        also_answers TEXT,
        heard_by TEXT,
        listener_id INTEGER,
        former_id INTEGER REFERENCES takes (id) ON DELETE SET NULL,
        lengthens INTEGER NOT NULL DEFAULT 0,
        fault TEXT,
        undone_at INTEGER
    ) {STRICT}""",
    "CREATE INDEX turns_scene ON turns (scene_id, id)",
    "CREATE INDEX turns_author ON turns (author_id)",
    "CREATE INDEX turns_answers ON turns (answers_id)",
    "CREATE INDEX turns_take ON turns (take_id)",
    "CREATE INDEX turns_former ON turns (former_id)",
    "CREATE INDEX turns_undone ON turns (scene_id, undone_at) WHERE undone_at IS NOT NULL",
    "CREATE INDEX turns_owed ON turns (scene_id, id) WHERE state = 'thinking'",
    f"""CREATE TABLE takes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        raw TEXT NOT NULL,
        seed INTEGER,
        author_id INTEGER,
        UNIQUE (turn_id, number)
    ) {STRICT}""",
    "CREATE INDEX takes_author ON takes (author_id) WHERE author_id IS NOT NULL",
    f"""CREATE TABLE beats (
        take_id INTEGER NOT NULL REFERENCES takes (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('speech', 'action', 'thought', 'planning')),
        text TEXT NOT NULL,
        PRIMARY KEY (take_id, position)
    ) {STRICT}""",
)
_POSTS = (
    f"""CREATE TABLE posts (
        message_id INTEGER PRIMARY KEY,
        channel_id INTEGER NOT NULL,
        turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
        take_id INTEGER REFERENCES takes (id) ON DELETE SET NULL,
        part INTEGER NOT NULL,
        purpose TEXT NOT NULL,
        webhook_id INTEGER,
        controls INTEGER NOT NULL DEFAULT 0
    ) {STRICT}""",
    "CREATE INDEX posts_turn ON posts (turn_id)",
    "CREATE INDEX posts_take ON posts (take_id)",
    "CREATE INDEX posts_controls ON posts (channel_id) WHERE controls",
    f"""CREATE TABLE webhooks (
        id INTEGER PRIMARY KEY,
        token TEXT NOT NULL,
        channel_id INTEGER NOT NULL,
        character TEXT
    ) {STRICT}""",
    "CREATE UNIQUE INDEX webhooks_character ON webhooks (channel_id, ifnull(character, ''))",
    f"CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) {STRICT}",
)


async def destinations_of_beats(transaction: Transaction) -> None:
    """2: the destination of each private beat, decided when its take was posted."""
    await transaction.execute("ALTER TABLE beats ADD COLUMN destination TEXT")
    # Takes that were posted show what their scene's policy releases.
    await transaction.execute(
        "UPDATE beats SET destination ="
        " (SELECT iif(beats.kind = 'planning', scenes.planning, scenes.thoughts) FROM takes"
        " JOIN turns ON turns.id = takes.turn_id JOIN scenes ON scenes.id = turns.scene_id"
        " WHERE takes.id = beats.take_id AND turns.state <> 'thinking')"
        " WHERE kind IN ('thought', 'planning')"
    )


async def silences(transaction: Transaction) -> None:
    """3: the times of pauses, of muted users, and of absent characters and their players."""
    await transaction.execute(
        f"""CREATE TABLE silences (
            scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('pause', 'user', 'character')),
            subject TEXT NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER
        ) {STRICT}"""
    )
    await transaction.execute("CREATE INDEX silences_scene ON silences (scene_id, since)")
    # The earlier times are not known. In doubt, nothing was heard.
    for query in (
        "SELECT id, 'pause', '', 0 FROM scenes WHERE state = 'paused'",
        "SELECT scene_id, 'user', user_id, 0 FROM kicked",
        """SELECT scene_id, 'user', player_id, 0 FROM parts
            WHERE absent AND player_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM kicked
                WHERE kicked.scene_id = parts.scene_id AND kicked.user_id = player_id)""",
        "SELECT scene_id, 'character', character, 0 FROM parts WHERE absent",
    ):
        await transaction.execute(f"INSERT INTO silences (scene_id, kind, subject, since) {query}")


async def first_message_of_a_place(transaction: Transaction) -> None:
    """4: the message id after which a scene's messages belong to its current channel.

    A scene that moved has lines from other channels too.
    """
    await transaction.execute("ALTER TABLE scenes ADD COLUMN first_message_id INTEGER")
    await transaction.execute("UPDATE scenes SET first_message_id = last_message_id")


async def sources_of_turns(transaction: Transaction) -> None:
    """5: the channel of each line's message, and the turn that a branch's turn was copied from.

    With both, an edit or a deletion on Discord finds every turn that it changes.
    """
    await transaction.execute("ALTER TABLE turns ADD COLUMN channel_id INTEGER")
    await transaction.execute("ALTER TABLE turns ADD COLUMN source_id INTEGER")
    await transaction.execute(
        "CREATE INDEX turns_source ON turns (source_id) WHERE source_id IS NOT NULL"
    )
    # The earlier channels of a scene that moved are not known.
    await transaction.execute(
        "UPDATE turns SET channel_id = (SELECT channel_id FROM scenes WHERE id = scene_id"
        " AND message_id > ifnull(first_message_id, 0)) WHERE message_id IS NOT NULL"
    )


async def unreachable_people(transaction: Transaction) -> None:
    """6: the people whom direct messages don't reach, and whether they know."""
    await transaction.execute(
        f"""CREATE TABLE unreachable (
            user_id INTEGER PRIMARY KEY,
            obstacle TEXT NOT NULL,
            notified INTEGER NOT NULL DEFAULT 0
        ) {STRICT}"""
    )


async def windows_of_stories(transaction: Transaction) -> None:
    """7: indexes for reading a part of a long story, and the first turn in each mind's prompt."""
    for statement in (
        "CREATE INDEX turns_story ON turns (scene_id, id) WHERE state <> 'hidden'",
        """CREATE INDEX turns_speaker ON turns (scene_id, speaker, id)
            WHERE state <> 'hidden' AND kind <> 'setting'""",
        """CREATE INDEX turns_reply ON turns (scene_id, speaker, id)
            WHERE state <> 'hidden' AND kind = 'reply'""",
        "CREATE INDEX turns_setting ON turns (scene_id, speaker, id) WHERE kind = 'setting'",
        f"""CREATE TABLE windows (
            scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
            character TEXT NOT NULL,
            first_turn_id INTEGER NOT NULL,
            PRIMARY KEY (scene_id, character)
        ) {STRICT}""",
    ):
        await transaction.execute(statement)


async def own_characters(transaction: Transaction) -> None:
    """8: people's own characters, their copies in scenes, and which scenes let them join."""
    for statement in (
        # AUTOINCREMENT: buttons on Discord carry the ids for ever.
        f"""CREATE TABLE own_characters (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            owner_id INTEGER NOT NULL,
            revision INTEGER NOT NULL DEFAULT 1,
            json TEXT NOT NULL,
            picture BLOB
        ) {STRICT}""",
        "CREATE INDEX own_characters_owner ON own_characters (owner_id)",
        "ALTER TABLE parts ADD COLUMN own_id INTEGER",
        "ALTER TABLE parts ADD COLUMN owner_id INTEGER",
        "ALTER TABLE parts ADD COLUMN own_json TEXT",
        "CREATE INDEX parts_own ON parts (own_id) WHERE own_id IS NOT NULL",
        "ALTER TABLE scenes ADD COLUMN join_policy TEXT NOT NULL DEFAULT 'ask'",
    ):
        await transaction.execute(statement)


async def other_bots(transaction: Transaction) -> None:
    """9: proxy bots, the messages that they replaced, and bots that scenes hear."""
    for statement in (
        f"""CREATE TABLE replaced_messages (
            message_id INTEGER PRIMARY KEY,
            turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE
        ) {STRICT}""",
        "CREATE INDEX replaced_messages_turn ON replaced_messages (turn_id)",
        f"""CREATE TABLE server_proxies (
            guild_id INTEGER NOT NULL,
            application_id INTEGER NOT NULL,
            allowed INTEGER NOT NULL,
            PRIMARY KEY (guild_id, application_id)
        ) {STRICT}""",
        f"""CREATE TABLE scene_bots (
            scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
            user_id INTEGER NOT NULL,
            PRIMARY KEY (scene_id, user_id)
        ) {STRICT}""",
    ):
        await transaction.execute(statement)


async def explanations_of_pictures(transaction: Transaction) -> None:
    """10: the people who were told that characters can't see pictures."""
    await transaction.execute(f"CREATE TABLE explained (user_id INTEGER PRIMARY KEY) {STRICT}")


async def lines_of_personas(transaction: Transaction) -> None:
    """11: players whose lines appear as their characters', and the messages that are replaced."""
    await transaction.execute("ALTER TABLE parts ADD COLUMN persona_of INTEGER")
    await transaction.execute(
        f"""CREATE TABLE reposts (
            message_id INTEGER PRIMARY KEY,
            scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
            posted_id INTEGER
        ) {STRICT}"""
    )
    await transaction.execute("CREATE INDEX reposts_scene ON reposts (scene_id)")
    await transaction.execute(
        "CREATE INDEX reposts_posted ON reposts (posted_id) WHERE posted_id IS NOT NULL"
    )


async def insights(transaction: Transaction) -> None:
    """12: thoughts that were opened to single players, and how difficult it is to read them."""
    for statement in (
        f"""CREATE TABLE insight_difficulties (
            scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
            character TEXT NOT NULL,
            difficulty INTEGER NOT NULL,
            PRIMARY KEY (scene_id, character)
        ) {STRICT}""",
        f"""CREATE TABLE insights (
            take_id INTEGER NOT NULL REFERENCES takes (id) ON DELETE CASCADE,
            reader_id INTEGER NOT NULL,
            turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
            opened INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (take_id, reader_id)
        ) {STRICT}""",
        "CREATE INDEX insights_turn ON insights (turn_id, reader_id)",
        "CREATE INDEX insights_reader ON insights (reader_id)",
    ):
        await transaction.execute(statement)


async def memories(transaction: Transaction) -> None:
    """13: what each mind remembers of turns that left its prompt.

    Triggers erase those whose turns change, and delete the memories that rest on them.
    """
    await transaction.execute(
        f"""CREATE TABLE memories (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            scene_id INTEGER NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
            character TEXT NOT NULL,
            layer INTEGER NOT NULL,
            first_id INTEGER NOT NULL,
            last_id INTEGER NOT NULL,
            turn_ids TEXT NOT NULL DEFAULT '[]',
            parent_id INTEGER REFERENCES memories (id) ON DELETE SET NULL,
            text TEXT NOT NULL DEFAULT '',
            revision INTEGER NOT NULL DEFAULT 0
        ) {STRICT}"""
    )
    for statement in (
        "CREATE INDEX memories_mind ON memories (scene_id, character, parent_id, first_id)",
        "CREATE INDEX memories_parent ON memories (parent_id)",
        "CREATE INDEX memories_turns ON memories (scene_id, first_id) WHERE layer = 0",
        *MEMORY_TRIGGERS,
    ):
        await transaction.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (
    scenes_turns_posts,
    destinations_of_beats,
    silences,
    first_message_of_a_place,
    sources_of_turns,
    unreachable_people,
    windows_of_stories,
    own_characters,
    other_bots,
    explanations_of_pictures,
    lines_of_personas,
    insights,
    memories,
)


async def migrate(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Migrate the schema to the latest version. Each migration and its number are one transaction.

    A database that has a schema is copied to a file beside it first. Raise StoreError if a newer
    Aside wrote the database or if a migration fails. After a failure the database is as the last
    complete migration left it.
    """
    async with database.read() as reading:
        version: int = await reading.value("PRAGMA user_version")
    if version > len(migrations):
        raise sqlite_errors.describe_newer_schema(database.path, version, len(migrations))
    if 0 < version < len(migrations):
        await _copy(database, database.path.with_name(f"{database.path.name}.schema-{version}"))
    await _foreign_keys(
        database, "OFF"
    )  # a migration may have to rebuild a table under its old name
    try:
        for number, migration in enumerate(migrations[version:], start=version + 1):
            await _step(database, number, migration)
    finally:
        await _foreign_keys(database, "ON")


async def _step(database: Database, number: int, migration: Migration) -> None:
    async with database.transaction() as transaction:
        await migration(transaction)
        if await transaction.row("PRAGMA foreign_key_check"):
            raise StoreError(
                f"{database.path} can't be migrated to schema {number}: rows refer to missing "
                "rows. Report this."
            )
        await transaction.execute(f"PRAGMA user_version = {number}")


async def _foreign_keys(database: Database, switch: str) -> None:
    async with database.read() as reading:
        await reading.execute(f"PRAGMA foreign_keys = {switch}")


async def _copy(database: Database, target: Path) -> None:
    try:
        await asyncio.to_thread(_empty_private_file, target)
    except OSError as error:
        raise sqlite_errors.describe_os_error(error, target) from error
    async with database.read() as reading:
        await reading.execute("VACUUM INTO ?", str(target))


def _empty_private_file(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
