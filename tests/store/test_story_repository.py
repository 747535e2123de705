"""A part of a story is read as the whole would be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.her.beats import speech, thought
from bot.scenes.turn import TurnKind
from bot.scenes.turn_selection import TurnSelection
from bot.store.database import Database
from bot.store.migrations import MIGRATIONS, migrate
from bot.store.store import Store
from tests.store.conftest import NOON, a_line, begin, from_outside, narrate, say

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.scenes.turn import NewLine, Turn


def whisper(text: str, to: str) -> NewLine:
    line = replace(a_line(text), kind=TurnKind.WHISPER, message_id=None)
    return replace(line, heard_by=frozenset({to}))


def setting(name: str, text: str) -> NewLine:
    return replace(a_line(text), speaker=name, kind=TurnKind.SETTING, message_id=None)


async def answer(store: Store, scene: Scene, name: str, text: str) -> Turn:
    owed = await store.add_reply(scene.id, name, None, NOON)
    await store.keep_take(owed.id, (thought("Hm."), speech(text)), text, 1)
    return await store.settle(owed.id)


@pytest.fixture
async def story(store: Store, scene: Scene) -> list[Turn]:
    """A story with a turn of every kind, an owed reply, a hidden turn and a line without words."""
    await say(store, scene, whisper("The note is forged.", "Mr Darcy"))
    await answer(store, scene, "Mr Bennet", "Come in.")
    await narrate(store, scene.id, "It rains.", None, NOON)
    await say(store, scene, setting("Place", "The hall"))
    await answer(store, scene, "Mr Darcy", "Indeed.")
    hidden = await say(store, scene)
    await say(store, scene, setting("Place", "The terrace"))
    await say(store, scene, replace(a_line(""), beats=()))
    await store.add_line(scene.id, a_line("Papa?"), ("Mr Bennet",), NOON)
    await store.hide_turns(scene.id, [hidden.id])
    return await store.turns(scene.id)


SELECTIONS = [
    TurnSelection(),
    TurnSelection(done=True),
    TurnSelection(public=True),
    TurnSelection(heard_by="Mr Bennet"),
    TurnSelection(heard_by="Mr Darcy", done=True),
    TurnSelection(kind=TurnKind.REPLY),
    TurnSelection(since=3),
    TurnSelection(answering=9),
    TurnSelection(before=6),
    TurnSelection(since=2, before=6, public=True, done=True),
]


def selects(selection: TurnSelection, turn: Turn) -> bool:
    return (
        turn.id >= selection.since
        and (selection.before is None or turn.id < selection.before)
        and (selection.heard_by is None or turn.is_heard_by(selection.heard_by))
        and selection.kind in (None, turn.kind)
        and (selection.answering is None or selection.answering in turn.answered)
        and (not selection.done or turn.state == "done")
        and (not selection.public or turn.public)
    )


@pytest.mark.parametrize("selection", SELECTIONS)
async def test_a_selection_has_the_turns_that_meet_its_conditions(
    store: Store, scene: Scene, story: list[Turn], selection: TurnSelection
) -> None:
    wanted = [turn for turn in story if selects(selection, turn)]
    assert 0 < len(wanted) <= 8
    assert await store.turns(scene.id, selection) == wanted
    assert await store.count_turns(scene.id, selection) == len(wanted)
    for most in (1, 2, 100):
        assert await store.latest_turns(scene.id, most, selection) == wanted[-most:]


async def test_another_scene_is_never_read(store: Store, story: list[Turn]) -> None:
    other = await begin(store, 501)
    assert story
    assert await store.turns(other.id) == []
    assert await store.speakers(other.id) == []
    assert await store.latest_settings(other.id) == []


async def test_the_latest_reply_of_each_character_is_found(
    store: Store, scene: Scene, story: list[Turn]
) -> None:
    latest = await store.latest_replies(scene.id, ["Mr Bennet", "Mr Darcy", "Elizabeth"])
    assert [(turn.speaker, turn.state) for turn in latest] == [
        ("Mr Darcy", "done"),
        ("Mr Bennet", "thinking"),
    ]
    assert latest == [turn for turn in story if turn in latest]


async def test_the_latest_setting_counts_and_an_earlier_moment_has_an_earlier_one(
    store: Store, scene: Scene, story: list[Turn]
) -> None:
    settings = [turn for turn in story if turn.kind is TurnKind.SETTING]
    assert await store.latest_settings(scene.id) == settings[1:]
    assert await store.latest_settings(scene.id, settings[1].id) == settings[:1]


async def test_speakers_are_those_whose_words_are_in_the_story(
    store: Store, scene: Scene, story: list[Turn]
) -> None:
    assert story
    one = replace(a_line("Hidden."), speaker="A ghost")
    ghost = await say(store, scene, one)
    await store.hide_turns(scene.id, [ghost.id])
    assert await store.speakers(scene.id) == ["Elizabeth", "Environment", "Mr Bennet", "Mr Darcy"]


async def test_turns_are_read_by_id_in_order(store: Store, scene: Scene, story: list[Turn]) -> None:
    ids = [turn.id for turn in story]
    assert scene.id
    assert await store.turns_by_id([*reversed(ids), 999]) == story


async def test_a_long_story_is_read_in_order(store: Store, scene: Scene) -> None:
    for number in range(300):
        await say(store, scene, a_line(str(number)))
    turns = await store.turns(scene.id)
    assert [turn.take.raw for turn in turns if turn.take] == [str(one) for one in range(300)]


async def test_each_mind_has_its_own_window(store: Store, scene: Scene) -> None:
    assert await store.window_start(scene.id, "Mr Bennet") == 0
    for turn_id in (7, 9):
        await store.save_window_start(scene.id, "Mr Bennet", turn_id)
    assert await store.window_start(scene.id, "Mr Bennet") == 9
    assert await store.window_start(scene.id, "Mr Darcy") == 0
    assert await store.window_start((await begin(store, 501)).id, "Mr Bennet") == 0


async def test_a_deleted_scene_leaves_no_window(store: Store, scene: Scene, path: Path) -> None:
    await store.save_window_start(scene.id, "Mr Bennet", 7)
    await store.delete_scene(scene.id)
    assert from_outside(path, "SELECT count(*) FROM windows") == [(0,)]


QUERIES = (
    "SELECT id FROM turns WHERE scene_id = 1 AND state <> 'hidden' ORDER BY id DESC LIMIT 9",
    (
        "SELECT min(speaker) FROM turns WHERE scene_id = 1 AND state <> 'hidden'"
        " AND kind <> 'setting' AND speaker > 'a'"
    ),
    (
        "SELECT max(id) FROM turns WHERE scene_id = 1 AND speaker = 'a' AND kind = 'reply'"
        " AND state <> 'hidden'"
    ),
    "SELECT max(undone_at) FROM turns WHERE scene_id = 1 AND undone_at IS NOT NULL",
)


@pytest.mark.parametrize("query", QUERIES)
async def test_the_queries_of_a_reply_use_an_index(store: Store, path: Path, query: str) -> None:
    assert store
    plan = str(from_outside(path, f"EXPLAIN QUERY PLAN {query}"))
    assert "INDEX" in plan
    assert "TEMP B-TREE" not in plan
    assert "SCAN" not in plan


async def test_a_database_of_the_version_before_can_be_played_on(path: Path) -> None:
    database = await Database.open(path)
    try:
        await migrate(database, MIGRATIONS[:6])
    finally:
        await database.close()
    async with await Store.open(path) as store:
        scene = await begin(store)
        turn = await say(store, scene)
        await store.save_window_start(scene.id, "Mr Bennet", turn.id)
        assert await store.latest_turns(scene.id, 5) == [turn]
