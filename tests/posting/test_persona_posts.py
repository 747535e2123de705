"""The posts of a turn with a new take are edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import planning
from bot.scenes.reveal import Destination, RevealPolicy

if TYPE_CHECKING:
    from tests.posting.conftest import PostingSetup

LONG = "I have not the pleasure of understanding you. " * 100


async def test_a_new_take_edits_the_post_of_the_old_one(setup: PostingSetup) -> None:
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Old."))
    (post,) = setup.channel.messages
    await setup.delivery.deliver(setup.scene(), turn, setup.take("New."))
    assert setup.channel.messages == [post]
    assert post.content == "New."


async def test_posts_are_added_and_deleted_as_a_take_grows_and_shrinks(setup: PostingSetup) -> None:
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Short."))
    await setup.delivery.deliver(setup.scene(), turn, setup.take(LONG))
    assert " ".join(text for _, text in setup.read()) == LONG.strip()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Short again."))
    assert setup.texts() == ["Short again."]
    assert len(await setup.posts.posts(turn.id)) == 1


async def test_posts_in_a_thread_are_edited(setup: PostingSetup) -> None:
    thread = setup.start_thread()
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(thread), turn, setup.take(LONG))
    await setup.delivery.deliver(setup.scene(thread), turn, setup.take("Short."))
    assert setup.read(thread) == [("Mr Bennet", "Short.")]


async def test_a_deleted_post_is_posted_again(setup: PostingSetup) -> None:
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Old."))
    setup.channel.messages[0].deleted = True
    await setup.delivery.deliver(setup.scene(), turn, setup.take("New."))
    assert setup.read() == [("Mr Bennet", "New.")]


async def test_a_post_that_can_no_longer_be_edited_is_replaced(setup: PostingSetup) -> None:
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Old."))
    setup.discord.faults.refuse("edit_webhook_message", 30046)
    await setup.delivery.deliver(setup.scene(), turn, setup.take("New."))
    assert setup.read() == [("Mr Bennet", "New.")]


async def test_posts_of_a_deleted_webhook_are_replaced(setup: PostingSetup) -> None:
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Old."))
    world = setup.discord.world
    own = next(role for role in setup.guild.roles.values() if role.managed_by)
    world.overwrite(setup.channel, own, allow="manage_messages")
    world.delete_webhook(next(iter(world.webhooks.values())))
    await setup.delivery.deliver(setup.scene(), turn, setup.take("New."))
    assert setup.read()[-1] == ("Mr Bennet", "New.")


async def test_the_file_of_an_old_take_is_removed(setup: PostingSetup) -> None:
    scene = setup.scene(reveal=RevealPolicy(planning=Destination.SPOILER))
    turn = setup.turn()
    await setup.delivery.deliver(scene, turn, setup.take(planning("Calm. " * 500), "Old."))
    await setup.delivery.deliver(scene, turn, setup.take("New."))
    (post,) = setup.channel.messages
    assert (post.content, post.now.attachments) == ("New.", ())


async def test_posts_in_the_bots_own_voice_are_edited(
    setup: PostingSetup,
) -> None:
    for number in range(15):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Old."))
    await setup.delivery.deliver(setup.scene(), turn, setup.take("New."))
    assert setup.texts()[1:] == ["**Mr Bennet**\nNew."]


async def test_posts_in_the_bots_own_voice_are_replaced_once_a_webhook_exists(
    setup: PostingSetup,
) -> None:
    others = [
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
        for number in range(15)
    ]
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Old."))
    setup.discord.world.delete_webhook(others[0])
    await setup.delivery.deliver(setup.scene(), turn, setup.take("New."))
    assert setup.read()[1:] == [("Mr Bennet", "New.")]
