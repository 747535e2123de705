from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.errors import StoreError
from bot.her.beats import speech
from bot.scenes.posts import PersonaWebhook, Post, PostPurpose
from bot.scenes.turn import NewLine
from tests.store.conftest import NOON

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from bot.store.store import Store


@pytest.fixture
async def reply(store: Store, scene: Scene) -> Turn:
    owed = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    return await store.keep_take(owed.id, (speech("Lizzy!"),), "", 1)


async def test_the_messages_of_a_reply_keep_their_order(store: Store, reply: Turn) -> None:
    take_id = reply.take.id if reply.take else None
    spoken = Post(901, 500, reply.id, take_id, 0, PostPurpose.PERSONA, webhook_id=7)
    more = Post(902, 500, reply.id, take_id, 1, PostPurpose.PERSONA, webhook_id=7)
    private = Post(903, 9000, reply.id, take_id, 0, PostPurpose.GM)
    for post in (private, more, spoken):
        await store.add_post(post)
    assert await store.posts(reply.id) == [spoken, more, private]


async def test_storing_a_message_again_replaces_it(store: Store, reply: Turn) -> None:
    await store.add_post(Post(901, 500, reply.id, None, 0, PostPurpose.FAULT))
    await store.add_post(Post(901, 500, reply.id, None, 0, PostPurpose.PERSONA))
    assert [post.purpose for post in await store.posts(reply.id)] == [PostPurpose.PERSONA]


async def test_a_forgotten_post_is_deleted(store: Store, reply: Turn) -> None:
    await store.add_post(Post(901, 500, reply.id, None, 0, PostPurpose.PERSONA))
    await store.forget_post(901)
    await store.forget_post(901)
    assert await store.posts(reply.id) == []
    assert await store.turn_by_message(901) is None


async def test_stored_posts_are_recognised_by_their_message_ids(
    store: Store, scene: Scene, reply: Turn
) -> None:
    other = await store.add_reply(scene.id, "Elizabeth", None, NOON)
    await store.add_post(Post(901, 500, reply.id, None, 0, PostPurpose.PERSONA))
    await store.add_post(Post(902, 500, other.id, None, 0, PostPurpose.PERSONA))
    assert await store.find_stored_message_ids([901, 902, 903]) == {901, 902}
    assert await store.find_stored_message_ids([]) == set()


async def test_a_post_without_a_turn_is_rejected(store: Store) -> None:
    with pytest.raises(StoreError):
        await store.add_post(Post(901, 500, 99, None, 0, PostPurpose.PERSONA))


async def test_a_channel_has_a_shared_webhook_and_character_webhooks(store: Store) -> None:
    own = PersonaWebhook(1, "secret-1", 500, "Mr Darcy")
    common = PersonaWebhook(2, "secret-2", 500)
    elsewhere = PersonaWebhook(3, "secret-3", 501)
    for webhook in (own, common, elsewhere):
        await store.save_webhook(webhook)
    assert await store.webhooks(500) == [common, own]
    assert await store.webhooks(501) == [elsewhere]


async def test_a_new_webhook_replaces_the_old_one(store: Store) -> None:
    for character in (None, "Mr Darcy"):
        await store.save_webhook(PersonaWebhook(1, "old", 500, character))
        await store.save_webhook(PersonaWebhook(2, "new", 500, character))
        assert await store.webhooks(500) == [PersonaWebhook(2, "new", 500, character)]
        await store.forget_webhook(2)


async def test_webhook_tokens_are_never_logged(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await store.save_webhook(PersonaWebhook(1, "secret", 500))
    assert await store.webhooks(500)
    assert "secret" not in caplog.text


async def test_a_forgotten_webhook_is_deleted(store: Store) -> None:
    await store.save_webhook(PersonaWebhook(1, "secret", 500))
    await store.forget_webhook(1)
    assert await store.webhooks(500) == []


async def test_earlier_messages_are_found_by_turn_id_and_not_by_the_clock(
    store: Store, scene: Scene
) -> None:
    before = await store.newest_turn()
    early = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    said = (speech("Papa?"),)
    await store.add_line(
        scene.id, NewLine(3, "Lizzy", 700, "Papa?", said), (), NOON - timedelta(hours=1)
    )
    late = await store.add_reply(scene.id, "Mrs Bennet", None, NOON - timedelta(hours=2))
    assert (
        await store.last_message_before(early.id),
        await store.last_message_before(late.id),
    ) == (0, 700)
    assert before < early.id < late.id == await store.newest_turn()
