from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.scenes.note import NewNote
from bot.scenes.scene import Mode, SceneState
from tests.store.conftest import GM, NOON

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from bot.store.store import Store


async def test_notes_keep_their_order_until_they_are_removed(store: Store, scene: Scene) -> None:
    all_ = await store.add_note(scene.id, NewNote(GM, None, "It is cold."), NOON)
    one = await store.add_note(scene.id, NewNote(GM, "Mr Bennet", "You have a cold."), NOON)
    assert await store.notes(scene.id) == [all_, one]
    assert one.concerns("Mr Bennet")
    assert not one.concerns("Elizabeth")
    assert all_.concerns("Elizabeth")
    await store.remove_note(all_.id)
    await store.remove_note(all_.id)
    assert await store.notes(scene.id) == [one]


async def test_a_game_masters_notes_are_exported_and_deleted_with_their_lines(
    store: Store, scene: Scene
) -> None:
    await store.add_note(scene.id, NewNote(GM, None, "It is cold."), NOON)
    (line,) = await store.lines_of(GM)
    assert (line.speaker, line.text) == ("(standing note)", "It is cold.")
    assert await store.forget_person(GM) == 1
    assert await store.notes(scene.id) == []


async def test_a_scenes_mode_and_people_are_stored(store: Store, scene: Scene) -> None:
    parts = (
        replace(scene.parts[0], rests=True),
        replace(scene.parts[1], absent=True),
        scene.parts[2],
    )
    changed = replace(scene, mode=Mode.AUTO, budget=7, muted=(5, 6), parts=parts, gm_ids=(1, 2))
    await store.save_scene(changed, NOON)
    assert await store.scene(scene.id) == changed
    await store.save_scene(replace(changed, state=SceneState.ENDED), NOON)
    await store.forget_person(5)
    ended = await store.scene(scene.id)
    assert ended is not None
    assert ended.muted == (6,)
