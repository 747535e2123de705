"""A turn with a new take: its posts change in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import planning
from bot.scenes.reveal import Destination, RevealPolicy

if TYPE_CHECKING:
    from tests.posting.conftest import House

LONG = "I have not the pleasure of understanding you. " * 100


async def test_a_new_take_changes_the_post_of_the_old_one(house: House) -> None:
    turn = house.turn()
    await house.stage.deliver(house.scene(), turn, house.take("Old."))
    (post,) = house.room.messages
    await house.stage.deliver(house.scene(), turn, house.take("New."))
    assert house.room.messages == [post]
    assert post.content == "New."


async def test_more_parts_follow_and_fewer_leave(house: House) -> None:
    turn = house.turn()
    await house.stage.deliver(house.scene(), turn, house.take("Short."))
    await house.stage.deliver(house.scene(), turn, house.take(LONG))
    assert " ".join(text for _, text in house.told()) == LONG.strip()
    await house.stage.deliver(house.scene(), turn, house.take("Short again."))
    assert [text for _, text in house.told()] == ["Short again."]
    assert len(await house.posts.posts(turn.id)) == 1


async def test_in_a_thread_posts_change_in_place_too(house: House) -> None:
    thread, turn = house.thread(), house.turn()
    await house.stage.deliver(house.scene(thread), turn, house.take(LONG))
    await house.stage.deliver(house.scene(thread), turn, house.take("Short."))
    assert house.told(thread) == [("Mr Bennet", "Short.")]


async def test_a_post_that_somebody_deleted_is_posted_anew(house: House) -> None:
    turn = house.turn()
    await house.stage.deliver(house.scene(), turn, house.take("Old."))
    house.room.messages[0].deleted = True
    await house.stage.deliver(house.scene(), turn, house.take("New."))
    assert house.told() == [("Mr Bennet", "New.")]


async def test_a_post_that_can_be_edited_no_more_is_replaced(house: House) -> None:
    turn = house.turn()
    await house.stage.deliver(house.scene(), turn, house.take("Old."))
    house.discord.faults.refuse("edit_webhook_message", 30046)
    await house.stage.deliver(house.scene(), turn, house.take("New."))
    assert house.told() == [("Mr Bennet", "New.")]


async def test_posts_of_a_webhook_that_is_gone_are_replaced(house: House) -> None:
    turn = house.turn()
    await house.stage.deliver(house.scene(), turn, house.take("Old."))
    world = house.discord.world
    own = next(role for role in house.guild.roles.values() if role.managed_by)
    world.overwrite(house.room, own, allow="manage_messages")
    world.delete_webhook(next(iter(world.webhooks.values())))
    await house.stage.deliver(house.scene(), turn, house.take("New."))
    assert house.told()[-1] == ("Mr Bennet", "New.")


async def test_the_file_of_an_old_take_goes_with_it(house: House) -> None:
    scene, turn = house.scene(reveal=RevealPolicy(planning=Destination.SPOILER)), house.turn()
    await house.stage.deliver(scene, turn, house.take(planning("Calm. " * 500), "Old."))
    await house.stage.deliver(scene, turn, house.take("New."))
    (post,) = house.room.messages
    assert (post.content, post.now.attachments) == ("New.", ())


async def test_where_characters_speak_through_the_bot_its_own_posts_change(house: House) -> None:
    for number in range(15):
        house.discord.world.webhook(house.room, f"Other {number}", house.gm.user)
    turn = house.turn()
    await house.stage.deliver(house.scene(), turn, house.take("Old."))
    await house.stage.deliver(house.scene(), turn, house.take("New."))
    assert [text for _, text in house.told()][1:] == ["**Mr Bennet**\nNew."]


async def test_once_there_is_a_webhook_the_bots_own_words_make_way_for_it(house: House) -> None:
    others = [
        house.discord.world.webhook(house.room, f"Other {number}", house.gm.user)
        for number in range(15)
    ]
    turn = house.turn()
    await house.stage.deliver(house.scene(), turn, house.take("Old."))
    house.discord.world.delete_webhook(others[0])
    await house.stage.deliver(house.scene(), turn, house.take("New."))
    assert house.told()[1:] == [("Mr Bennet", "New.")]
