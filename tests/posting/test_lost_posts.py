"""Crashes and stumbles between Discord and the store: nothing is lost, and nothing stands twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import PostingError
from bot.her.beats import planning, thought
from bot.scenes.reveal import Destination, RevealPolicy

if TYPE_CHECKING:
    from tests.posting.conftest import House

LONG = "I have not the pleasure of understanding you. " * 100


async def test_delivering_twice_posts_once(house: House) -> None:
    turn, take = house.turn(), house.take(thought("Hm."), LONG)
    for _ in range(2):
        await house.stage.deliver(house.scene(), turn, take)
    assert len(house.room.messages) == 3
    assert len(house.thoughts) == 1


async def test_a_delivery_broken_off_in_the_middle_goes_on_where_it_was(house: House) -> None:
    turn, take = house.turn(), house.take(LONG)
    await house.stage.deliver(house.scene(), turn, house.take("Wait."))
    house.discord.faults.refuse("execute_webhook", 50013)
    with pytest.raises(PostingError):
        await house.stage.deliver(house.scene(), turn, take)
    await house.stage.deliver(house.scene(), turn, take)
    assert " ".join(text for _, text in house.told()) == LONG.strip()


async def test_a_post_made_just_before_a_crash_is_found_again(house: House) -> None:
    turn, take = house.turn(), house.take(thought("Hm."), LONG)
    house.posts.forgetful = True
    with pytest.raises(MemoryError):
        await house.stage.deliver(house.scene(), turn, take)
    house.posts.forgetful = False
    await house.restarted().deliver(house.scene(), turn, take)
    assert " ".join(text for _, text in house.told()) == LONG.strip()
    assert len(await house.posts.posts(turn.id)) == 4
    assert len(house.thoughts) == 1


async def test_a_post_that_the_store_could_not_keep_is_found_again_without_a_restart(
    house: House,
) -> None:
    turn, take = house.turn(), house.take("Well.")
    house.posts.forgetful = True
    with pytest.raises(MemoryError):
        await house.stage.deliver(house.scene(), turn, take)
    house.posts.forgetful = False
    await house.stage.deliver(house.scene(), turn, take)
    assert house.told() == [("Mr Bennet", "Well.")]


async def test_a_file_posted_just_before_a_crash_is_found_again(house: House) -> None:
    scene = house.scene(reveal=RevealPolicy(planning=Destination.SPOILER))
    turn, take = house.turn(), house.take(planning("Calm. " * 500), "Sit.")
    house.posts.forgetful = True
    with pytest.raises(MemoryError):
        await house.stage.deliver(scene, turn, take)
    house.posts.forgetful = False
    await house.restarted().deliver(scene, turn, take)
    assert len(house.room.messages) == 1


async def test_an_equal_reply_to_another_line_is_not_taken_for_the_new_one(house: House) -> None:
    turn = house.turn()
    await house.stage.deliver(house.scene(), house.turn(), house.take("Well."))
    await house.restarted().deliver(house.scene(), turn, house.take("Well."))
    assert [text for _, text in house.told()] == ["Well.", "Well."]


async def test_an_equal_reply_from_before_the_store_was_lost_is_not_taken_for_the_new_one(
    house: House,
) -> None:
    await house.stage.deliver(house.scene(), house.turn(), house.take("Well."))
    house.posts.rows.clear()
    house.posts.heard = house.gm.say(house.room, "Mr Bennet?").id
    turn, take = house.turn(), house.take("Well.")
    house.discord.faults.refuse("execute_webhook", 50013)
    with pytest.raises(PostingError):
        await house.stage.deliver(house.scene(), turn, take)
    await house.stage.deliver(house.scene(), turn, take)
    assert [text for _, text in house.told()] == ["Well.", "Mr Bennet?", "Well."]


async def test_another_characters_equal_reply_is_not_taken_for_the_new_one(house: House) -> None:
    turn = house.turn(by="Elizabeth")
    await house.stage.deliver(house.scene(), house.turn(), house.take("Well."))
    await house.restarted().deliver(house.scene(), turn, house.take("Well."))
    assert [name for name, _ in house.told()] == ["Mr Bennet", "Elizabeth"]


async def test_discord_did_the_work_and_stumbled_and_the_reply_stands_once(house: House) -> None:
    house.discord.faults.fail("execute_webhook", 502, after_work=True)
    turn = house.turn()
    await house.stage.deliver(house.scene(), turn, house.take("Well."))
    assert house.told() == [("Mr Bennet", "Well.")]
    (row,) = await house.posts.posts(turn.id)
    assert row.message_id == house.room.messages[0].id


async def test_in_a_thread_too(house: House) -> None:
    thread = house.thread()
    house.discord.faults.fail("execute_webhook", 502, after_work=True)
    await house.stage.deliver(house.scene(thread), house.turn(), house.take("Well."))
    assert house.told(thread) == [("Mr Bennet", "Well.")]


async def test_the_connection_broke_after_the_work_and_the_reply_stands_once(house: House) -> None:
    house.discord.faults.drop("execute_webhook", after_work=True)
    await house.stage.deliver(house.scene(), house.turn(), house.take("Well."))
    assert house.told() == [("Mr Bennet", "Well.")]


async def test_the_connection_broke_before_the_work_and_a_second_try_posts_it(house: House) -> None:
    turn, take = house.turn(), house.take("Well.")
    house.discord.faults.drop("execute_webhook")
    with pytest.raises(
        PostingError, match="Discord did not answer as it should when I posted in #study"
    ):
        await house.stage.deliver(house.scene(), turn, take)
    await house.stage.deliver(house.scene(), turn, take)
    assert house.told() == [("Mr Bennet", "Well.")]


async def test_two_equal_parts_stay_two(house: House) -> None:
    take = house.take("x" * 1999 + "x" * 1999)
    house.discord.faults.fail("execute_webhook", 502, after_work=True)
    await house.stage.deliver(house.scene(), house.turn(), take)
    assert [text for _, text in house.told()] == ["x" * 1999, "x" * 1999]


async def test_the_bots_own_words_for_a_character_are_found_again_too(house: House) -> None:
    for number in range(15):
        house.discord.world.webhook(house.room, f"Other {number}", house.gm.user)
    turn, take = house.turn(), house.take("Well.")
    house.posts.forgetful = True
    with pytest.raises(MemoryError):
        await house.stage.deliver(house.scene(), turn, take)
    house.posts.forgetful = False
    await house.restarted().deliver(house.scene(), turn, take)
    assert [text for _, text in house.told()].count("**Mr Bennet**\nWell.") == 1


async def test_where_the_history_may_not_be_read_the_reply_is_posted_all_the_same(
    house: House,
) -> None:
    house.discord.faults.refuse("list_messages", 50013)
    turn = house.turn()
    await house.restarted().deliver(house.scene(), turn, house.take("Well."))
    assert house.told() == [("Mr Bennet", "Well.")]
