"""After a crash or an error every reply is posted, and none is posted twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import PostingError
from bot.her.beats import planning, thought
from bot.scenes.reveal import Destination, RevealPolicy

if TYPE_CHECKING:
    from tests.posting.conftest import PostingSetup

LONG = "I have not the pleasure of understanding you. " * 100


async def test_delivering_twice_posts_once(setup: PostingSetup) -> None:
    turn = setup.turn()
    take = setup.take(thought("Hm."), LONG)
    for _ in range(2):
        await setup.delivery.deliver(setup.scene(), turn, take)
    assert len(setup.channel.messages) == 3
    assert len(setup.thoughts) == 1


async def test_an_interrupted_delivery_continues_with_the_missing_part(
    setup: PostingSetup,
) -> None:
    turn = setup.turn()
    take = setup.take(LONG)
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Wait."))
    setup.discord.faults.refuse("execute_webhook", 50013)
    with pytest.raises(PostingError):
        await setup.delivery.deliver(setup.scene(), turn, take)
    await setup.delivery.deliver(setup.scene(), turn, take)
    assert " ".join(text for _, text in setup.read()) == LONG.strip()


async def test_a_post_made_just_before_a_crash_is_found_again(setup: PostingSetup) -> None:
    turn = setup.turn()
    take = setup.take(thought("Hm."), LONG)
    setup.posts.forgetful = True
    with pytest.raises(MemoryError):
        await setup.delivery.deliver(setup.scene(), turn, take)
    setup.posts.forgetful = False
    await setup.restart().deliver(setup.scene(), turn, take)
    assert " ".join(text for _, text in setup.read()) == LONG.strip()
    assert len(await setup.posts.posts(turn.id)) == 4
    assert len(setup.thoughts) == 1


async def test_a_post_that_could_not_be_stored_is_found_again_without_a_restart(
    setup: PostingSetup,
) -> None:
    turn = setup.turn()
    take = setup.take("Well.")
    setup.posts.forgetful = True
    with pytest.raises(MemoryError):
        await setup.delivery.deliver(setup.scene(), turn, take)
    setup.posts.forgetful = False
    await setup.delivery.deliver(setup.scene(), turn, take)
    assert setup.read() == [("Mr Bennet", "Well.")]


async def test_a_file_posted_just_before_a_crash_is_found_again(setup: PostingSetup) -> None:
    scene = setup.scene(reveal=RevealPolicy(planning=Destination.SPOILER))
    turn = setup.turn()
    take = setup.take(planning("Calm. " * 500), "Sit.")
    setup.posts.forgetful = True
    with pytest.raises(MemoryError):
        await setup.delivery.deliver(scene, turn, take)
    setup.posts.forgetful = False
    await setup.restart().deliver(scene, turn, take)
    assert len(setup.channel.messages) == 1


async def test_the_same_reply_to_another_line_is_not_reused(
    setup: PostingSetup,
) -> None:
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take("Well."))
    await setup.restart().deliver(setup.scene(), turn, setup.take("Well."))
    assert setup.texts() == ["Well.", "Well."]


async def test_the_same_reply_from_before_the_store_was_lost_is_not_reused(
    setup: PostingSetup,
) -> None:
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take("Well."))
    setup.posts.rows.clear()
    setup.posts.heard = setup.gm.say(setup.channel, "Mr Bennet?").id
    turn = setup.turn()
    take = setup.take("Well.")
    setup.discord.faults.refuse("execute_webhook", 50013)
    with pytest.raises(PostingError):
        await setup.delivery.deliver(setup.scene(), turn, take)
    await setup.delivery.deliver(setup.scene(), turn, take)
    assert setup.texts() == ["Well.", "Mr Bennet?", "Well."]


async def test_the_same_reply_of_another_character_is_not_reused(
    setup: PostingSetup,
) -> None:
    turn = setup.turn(by="Elizabeth")
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take("Well."))
    await setup.restart().deliver(setup.scene(), turn, setup.take("Well."))
    assert [name for name, _ in setup.read()] == ["Mr Bennet", "Elizabeth"]


async def test_a_reply_is_posted_once_if_discord_posts_it_and_responds_with_an_error(
    setup: PostingSetup,
) -> None:
    setup.discord.faults.fail("execute_webhook", 502, after_work=True)
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Well."))
    assert setup.read() == [("Mr Bennet", "Well.")]
    (row,) = await setup.posts.posts(turn.id)
    assert row.message_id == setup.channel.messages[0].id


async def test_a_reply_in_a_thread_is_posted_once_if_discord_responds_with_an_error(
    setup: PostingSetup,
) -> None:
    thread = setup.start_thread()
    setup.discord.faults.fail("execute_webhook", 502, after_work=True)
    await setup.delivery.deliver(setup.scene(thread), setup.turn(), setup.take("Well."))
    assert setup.read(thread) == [("Mr Bennet", "Well.")]


async def test_a_reply_is_posted_once_if_the_connection_breaks_after_the_request(
    setup: PostingSetup,
) -> None:
    setup.discord.faults.drop("execute_webhook", after_work=True)
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take("Well."))
    assert setup.read() == [("Mr Bennet", "Well.")]


async def test_a_reply_is_posted_by_the_second_attempt_if_the_connection_breaks_before_the_request(
    setup: PostingSetup,
) -> None:
    turn = setup.turn()
    take = setup.take("Well.")
    setup.discord.faults.drop("execute_webhook")
    with pytest.raises(PostingError, match="Discord did not respond when I posted in #study"):
        await setup.delivery.deliver(setup.scene(), turn, take)
    await setup.delivery.deliver(setup.scene(), turn, take)
    assert setup.read() == [("Mr Bennet", "Well.")]


async def test_two_equal_parts_are_posted_twice(setup: PostingSetup) -> None:
    take = setup.take("x" * 1999 + "x" * 1999)
    setup.discord.faults.fail("execute_webhook", 502, after_work=True)
    await setup.delivery.deliver(setup.scene(), setup.turn(), take)
    assert setup.texts() == ["x" * 1999, "x" * 1999]


async def test_a_lost_post_in_the_bots_own_voice_is_found_again(setup: PostingSetup) -> None:
    for number in range(15):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    turn = setup.turn()
    take = setup.take("Well.")
    setup.posts.forgetful = True
    with pytest.raises(MemoryError):
        await setup.delivery.deliver(setup.scene(), turn, take)
    setup.posts.forgetful = False
    await setup.restart().deliver(setup.scene(), turn, take)
    assert setup.texts().count("**Mr Bennet**\nWell.") == 1


async def test_a_reply_is_posted_although_the_history_cannot_be_read(
    setup: PostingSetup,
) -> None:
    setup.discord.faults.refuse("list_messages", 50013)
    turn = setup.turn()
    await setup.restart().deliver(setup.scene(), turn, setup.take("Well."))
    assert setup.read() == [("Mr Bennet", "Well.")]
