"""Memories and the turns that they rest on always agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.scenes.memories import MemoryLayer, NewMemory
from bot.store.database import Database
from bot.store.migrations import MIGRATIONS, migrate
from bot.store.store import Store
from tests.store.conftest import a_line, begin, from_outside, say

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.memories import MindMemory
    from bot.scenes.scene import Scene

BENNET = "Mr Bennet"


async def remember(
    store: Store, scene: Scene, name: str = BENNET, blocks: int = 2
) -> list[MindMemory]:
    """Store lines and written memories of two lines each."""
    for number in range(blocks):
        first = await say(store, scene, a_line(f"LINE-{2 * number}"))
        last = await say(store, scene, a_line(f"LINE-{2 * number + 1}"))
        await store.add_memory(scene.id, name, NewMemory(MemoryLayer.TURNS, first.id, last.id))
        memory = (await store.memories(scene.id, name))[-1]
        assert await store.write_memory(memory, f"MEMORY-{number}", [first.id, last.id])
    return await store.memories(scene.id, name)


async def join(store: Store, parts: list[MindMemory], text: str = "CHAPTER") -> bool:
    layer = MemoryLayer(parts[-1].layer + 1)
    return await store.join_memories(
        parts, NewMemory(layer, parts[0].first_id, parts[-1].last_id, text)
    )


async def test_turns_have_one_memory_of_each_layer(store: Store, scene: Scene) -> None:
    first, second = await remember(store, scene)
    again = NewMemory(MemoryLayer.TURNS, first.last_id, second.first_id, "Again")
    await store.add_memory(scene.id, BENNET, again)
    assert await store.memories(scene.id, BENNET) == [first, second]
    assert await store.block_before(scene.id, BENNET, second.first_id) == first
    assert await store.block_before(scene.id, BENNET, first.first_id) is None


async def test_a_text_about_turns_that_have_changed_is_not_stored(
    store: Store, scene: Scene
) -> None:
    first, second = await remember(store, scene)
    await store.reword_line(first.turn_ids[0], "Other words.", ())
    assert not await store.write_memory(first, "Out of date", first.turn_ids)
    assert not await join(store, [first, second])
    erased, kept = await store.memories(scene.id, BENNET)
    assert (erased.text, erased.turn_ids) == ("", ())
    assert kept == second


async def test_a_change_erases_every_layer_above_it_and_frees_the_others(
    store: Store, scene: Scene, path: Path
) -> None:
    parts = await remember(store, scene, blocks=4)
    assert await join(store, parts[:2], "CHAPTER-1")
    assert await join(store, parts[2:], "CHAPTER-2")
    chapters = await store.memories(scene.id, BENNET)
    assert await join(store, chapters, "WHOLE")
    (whole,) = await store.memories(scene.id, BENNET)
    assert (whole.layer, whole.first_id, whole.last_id) == (2, 1, parts[3].last_id)
    assert await store.memories(scene.id, BENNET, whole.id) == chapters
    await store.hide_turns(scene.id, [parts[0].turn_ids[0]])
    left = await store.memories(scene.id, BENNET)
    assert [one.text for one in left] == ["", "MEMORY-1", "CHAPTER-2"]
    texts = from_outside(path, "SELECT text FROM memories ORDER BY text")
    assert texts == [("",), ("CHAPTER-2",), *((f"MEMORY-{one}",) for one in (1, 2, 3))]


async def test_the_memory_of_the_whole_takes_up_further_chapters(
    store: Store, scene: Scene
) -> None:
    parts = await remember(store, scene, blocks=3)
    for number, part in enumerate(parts):
        assert await join(store, [part], f"CHAPTER-{number}")
    one, two, three = await store.memories(scene.id, BENNET)
    assert await join(store, [one, two], "WHOLE")
    whole = (await store.memories(scene.id, BENNET))[0]
    larger = NewMemory(MemoryLayer.WHOLE, whole.first_id, three.last_id, "LARGER")
    assert await store.join_memories([whole, three], larger)
    (found,) = await store.memories(scene.id, BENNET)
    assert found.text == "LARGER"
    assert await store.memories(scene.id, BENNET, found.id) == [one, two, three]


async def test_minds_and_scenes_are_apart(store: Store, scene: Scene) -> None:
    await remember(store, scene)
    other = await begin(store, 501)
    assert await store.memories(other.id, BENNET) == []
    assert await store.memories(scene.id, "Mr Darcy") == []


async def test_a_deleted_scene_or_server_leaves_no_memory(
    store: Store, scene: Scene, path: Path
) -> None:
    other = await begin(store, 501, guild=2)
    for one in (scene, other):
        await join(store, await remember(store, one))
    await store.delete_scene(scene.id)
    assert len(from_outside(path, "SELECT * FROM memories")) == 3
    await store.forget_server(2)
    assert from_outside(path, "SELECT * FROM memories") == []


async def test_a_database_of_the_version_before_gets_memories(path: Path) -> None:
    database = await Database.open(path)
    before = next(i for i, step in enumerate(MIGRATIONS) if step.__name__ == "memories")
    try:
        await migrate(database, MIGRATIONS[:before])
    finally:
        await database.close()
    async with await Store.open(path) as store:
        scene = await begin(store)
        assert len(await remember(store, scene)) == 2
