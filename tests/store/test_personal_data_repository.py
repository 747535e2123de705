from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.her.beats import speech
from bot.scenes.posts import Post, PostPurpose
from bot.scenes.scene import SceneState
from bot.scenes.turn import TurnState
from tests.store.conftest import ELIZA, GM, NOON, a_line, begin, narrate, say

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.store.store import Store

WORDS = "a sentence found nowhere else"


def on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


async def test_an_export_has_all_lines_of_a_person_from_every_scene(
    store: Store, scene: Scene
) -> None:
    other = await begin(store, channel=501, guild=2)
    await say(store, scene, a_line("first", message=900))
    await say(store, scene, a_line("not hers", author=99))
    await say(store, other, a_line("second", message=901))
    await store.hide_turns(scene.id)
    first, second = await store.lines_of(ELIZA)
    assert (first.guild_id, first.channel_id, first.scene_id, first.message_id) == (
        1,
        500,
        scene.id,
        900,
    )
    assert (first.text, first.speaker, first.said_at) == ("first", "Elizabeth", NOON)
    assert (second.guild_id, second.channel_id, second.text) == (2, 501, "second")


async def test_narrations_belong_to_the_game_master_who_wrote_them(
    store: Store, scene: Scene
) -> None:
    await narrate(store, scene.id, "It rains.", GM, NOON)
    assert [(line.text, line.message_id) for line in await store.lines_of(GM)] == [
        ("It rains.", None)
    ]
    assert await store.forget_person(GM) == 1
    assert await store.lines_of(GM) == []


async def test_deleted_lines_are_gone_from_the_story_and_the_disk(
    path: Path, store: Store, scene: Scene
) -> None:
    line, reply = await store.add_line(scene.id, a_line(WORDS, message=900), ("Mr Bennet",), NOON)
    await store.reword_line(line.id, f"{WORDS} twice", (speech(f"{WORDS} twice"),))
    assert WORDS.encode() in on_disk(path)

    assert await store.forget_person(ELIZA) == 1
    assert WORDS.encode() not in on_disk(path)
    assert await store.lines_of(ELIZA) == []
    assert await store.turn_by_message(900) is None
    assert await store.turns(scene.id) == []
    answer = await store.turn(reply.id)
    assert answer
    assert answer.state is TurnState.HIDDEN


async def test_other_peoples_lines_and_posts_stay(store: Store, scene: Scene) -> None:
    theirs = await say(store, scene, a_line("mine", author=99))
    reply = await store.add_reply(scene.id, "Mr Bennet", theirs.id, NOON)
    await store.add_post(Post(901, 500, reply.id, None, 0, PostPurpose.PERSONA))
    assert await store.forget_person(ELIZA) == 0
    assert await store.turns(scene.id) == [theirs, reply]
    assert len(await store.posts(reply.id)) == 1


async def test_a_deleted_persons_part_goes_after_the_scene_has_ended(
    store: Store, scene: Scene
) -> None:
    other = await begin(store, channel=501)
    await store.save_scene(replace(scene, state=SceneState.ENDED), NOON)
    for person in (ELIZA, GM):
        await store.forget_person(person)
    ended = await store.scene(scene.id)
    assert ended is not None
    assert ended.gm_ids == ()
    assert all(part.player_id is None for part in ended.parts)
    assert await store.scene(other.id) == other


async def test_the_id_of_a_deleted_turn_is_never_reused(store: Store, scene: Scene) -> None:
    line = await say(store, scene)
    await store.forget_person(ELIZA)
    assert (await say(store, scene)).id > line.id


async def test_forgetting_a_server_deletes_all_its_scenes(
    path: Path, store: Store, scene: Scene
) -> None:
    elsewhere = await begin(store, channel=600, guild=2)
    await say(store, scene, a_line(WORDS))
    reply = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    await store.keep_take(reply.id, (speech(WORDS),), WORDS, 1)
    await store.add_post(Post(901, 500, reply.id, None, 0, PostPurpose.PERSONA))
    assert await store.forget_server(1) == 1
    assert await store.open_scenes() == [elsewhere]
    assert await store.turns(scene.id) == []
    assert await store.posts(reply.id) == []
    assert WORDS.encode() not in on_disk(path)
