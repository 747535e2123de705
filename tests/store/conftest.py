from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

import pytest

from bot.her.beats import speech
from bot.library.scenario import NARRATOR, Character, Scenario
from bot.scenes.scene import Part, Place
from bot.scenes.turn import NewLine, TurnKind
from bot.store.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
GM, ELIZA, DARCY = 11, 22, 33

_messages = count(1_200_000_000_000_000_000)


def a_scenario(title: str = "The Morning Call", *names: str) -> Scenario:
    people = names or ("Mr Bennet", "Elizabeth", "Mr Darcy")
    return Scenario(
        id="morning-call",
        title=title,
        book="Pride and Prejudice",
        summary="A letter has come.",
        setting="The library at Longbourn, after breakfast.",
        characters=tuple(Character(name=name) for name in people),
    )


def a_line(
    text: str = "You sent for me, Papa?", *, author: int = ELIZA, message: int | None = None
) -> NewLine:
    return NewLine(author, "Elizabeth", message or next(_messages), text, (speech(text),))


async def say(store: Store, scene: Scene, line: NewLine | None = None) -> Turn:
    (turn,) = await store.add_line(scene.id, line or a_line(), (), NOON)
    return turn


async def narrate(
    store: Store, scene_id: int, text: str, author: int | None, now: datetime
) -> Turn:
    """Store a narration."""
    line = NewLine(author, NARRATOR, None, text, (speech(text),), TurnKind.NARRATION)
    (turn,) = await store.add_line(scene_id, line, (), now)
    return turn


async def begin(
    store: Store, channel: int = 500, scenario: Scenario | None = None, guild: int = 1
) -> Scene:
    parts = (Part("Mr Bennet"), Part("Elizabeth", player_id=ELIZA, role_id=77), Part("Mr Darcy"))
    return await store.add_scene(
        Place(guild, channel), scenario or a_scenario(), (GM,), parts, NOON
    )


def from_outside(path: Path, sql: str) -> list[tuple[object, ...]]:
    """Run one statement on the file from outside, as another program does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "aside.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[Store]:
    async with await Store.open(path) as opened:
        yield opened


@pytest.fixture
async def scene(store: Store) -> Scene:
    return await begin(store)
