from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.her.beats import speech
from bot.scenes.scene import Place
from tests.store.conftest import ELIZA, NOON, a_line, say

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from bot.store.store import Store


async def test_the_choices_of_a_server_are_its_own_and_go_with_it(store: Store) -> None:
    await store.choose_proxy(1, 700, allowed=True)
    await store.choose_proxy(1, 701, allowed=True)
    await store.choose_proxy(1, 701, allowed=False)
    await store.choose_proxy(2, 700, allowed=True)
    assert await store.proxy_choices(1) == {700: True, 701: False}
    await store.forget_server(1)
    assert await store.proxy_choices(1) == {}
    assert await store.proxy_choices(2) == {700: True}


async def test_a_scene_and_its_branch_hear_the_same_bots(store: Store, scene: Scene) -> None:
    await store.save_scene(replace(scene, bots=(900,)), NOON)
    saved = await store.scene(scene.id)
    assert saved is not None
    assert saved.bots == (900,)
    branch = await store.branch(saved, 0, Place(1, 501), NOON)
    assert branch.bots == (900,)


async def test_a_post_takes_over_a_line_and_its_copies(store: Store, scene: Scene) -> None:
    line = await say(store, scene, a_line("L: Papa?", message=400))
    branch = await store.branch(scene, line.id, Place(1, 501), NOON)
    assert [turn.id for turn in await store.recent_lines(scene.id, NOON)] == [line.id]
    await store.take_over_line(line.id, 401, "Brave Lizzy", "Papa?", (speech("Papa?"),))
    for place in (scene, branch):
        (turn,) = await store.turns(place.id)
        assert turn.take is not None
        assert (turn.speaker, turn.take.raw, turn.author_id) == ("Brave Lizzy", "Papa?", ELIZA)
    assert await store.turn_by_message(400) is None
    found = await store.turn_by_message(401)
    assert found is not None
    assert found.id == line.id
    assert await store.add_line(scene.id, a_line("L: Papa?", message=400), (), NOON) == ()
    assert await store.recent_lines(scene.id, NOON) == []
    assert await store.forget_person(ELIZA) == 2
