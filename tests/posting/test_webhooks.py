"""Webhooks: made once, made again where they are gone, and what happens where there can be none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import discord
import pytest

from bot.errors import PostingError
from bot.posting.webhooks import OWN_WEBHOOK_LIMIT, Persona, Webhooks
from tests.posting.conftest import draw_portrait

if TYPE_CHECKING:
    from tests.posting.conftest import PostingSetup


async def deliver(setup: PostingSetup, *texts: str, by: str = "Mr Bennet") -> None:
    for text in texts:
        await setup.delivery.deliver(setup.scene(), setup.turn(by=by), setup.take(text))


def deny(setup: PostingSetup, *names: str) -> None:
    """Deny the bot something in the room, though the server allows it."""
    own = next(role for role in setup.guild.roles.values() if role.managed_by)
    setup.discord.world.overwrite(setup.channel, own, deny=" ".join(names))


async def test_one_webhook_serves_a_channel_and_its_threads(setup: PostingSetup) -> None:
    await deliver(setup, "One.", "Two.", by="Elizabeth")
    await deliver(setup, "Three.")
    await setup.delivery.deliver(
        setup.scene(setup.start_thread()), setup.turn(), setup.take("Four.")
    )
    assert setup.webhook_names() == ["Aside"]
    assert len(setup.discord.asked("create_webhook")) == 1


async def test_all_who_ask_at_once_share_one_webhook(setup: PostingSetup) -> None:
    setup.discord.faults.slow("create_webhook", 0.05)
    place = setup.scene().place
    webhooks = Webhooks(setup.client, setup.posts)
    hooks = await asyncio.gather(*(webhooks.get(place, Persona("Anna")) for _ in range(5)))
    assert len(set(hooks)) == len(setup.webhook_names()) == 1


async def test_whoever_stops_waiting_takes_the_webhook_from_nobody(setup: PostingSetup) -> None:
    setup.discord.faults.slow("create_webhook", 0.05)
    webhooks = Webhooks(setup.client, setup.posts)
    place = setup.scene().place
    first, second = (asyncio.create_task(webhooks.get(place, Persona("Anna"))) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    assert (await second).channel_id == setup.channel.id


async def test_a_webhook_that_could_not_be_made_is_asked_for_again(setup: PostingSetup) -> None:
    setup.discord.faults.refuse("list_webhooks", 50001)
    with pytest.raises(PostingError):
        await Webhooks(setup.client, setup.posts).get(setup.scene().place, Persona("Anna"))
    await deliver(setup, "Here.")
    assert setup.read() == [("Mr Bennet", "Here.")]


async def test_closing_ends_what_is_being_made(setup: PostingSetup) -> None:
    setup.discord.faults.slow("list_webhooks", 0.3)
    webhooks = Webhooks(setup.client, setup.posts)
    asked = asyncio.create_task(webhooks.get(setup.scene().place, Persona("Anna")))
    await asyncio.sleep(0.02)
    await webhooks.close()
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_a_restart_makes_no_second_webhook(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    await setup.restart().deliver(setup.scene(), setup.turn(), setup.take("Two."))
    assert setup.webhook_names() == ["Aside"]


async def test_a_webhook_that_the_store_lost_is_found_again(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    setup.posts.hooks.clear()
    await deliver(setup, "Two.")
    assert setup.webhook_names() == ["Aside"]


async def test_a_webhook_that_a_moderator_deleted_is_made_anew(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    setup.discord.world.delete_webhook(next(iter(setup.discord.world.webhooks.values())))
    await deliver(setup, "Two.")
    assert setup.texts() == ["One.", "Two."]
    assert len(setup.posts.hooks) == 1


async def test_a_webhook_that_was_moved_to_another_channel_is_left_behind(
    setup: PostingSetup,
) -> None:
    garden = setup.discord.text_channel(setup.guild, "garden")
    await deliver(setup, "One.")
    next(iter(setup.discord.world.webhooks.values())).channel = garden
    await deliver(setup, "Two.")
    assert setup.texts() == ["One.", "Two."]
    assert garden.messages == []


async def test_webhooks_that_vanish_again_and_again_end_in_a_sentence(setup: PostingSetup) -> None:
    setup.discord.faults.refuse("execute_webhook", 10015, times=3)
    with pytest.raises(PostingError, match="My webhooks in #study are deleted"):
        await deliver(setup, "One.")


async def test_a_character_with_a_picture_of_its_own_has_a_webhook_of_its_own(
    setup: PostingSetup,
) -> None:
    setup.portraits.faces["Elizabeth"] = draw_portrait()
    await deliver(setup, "One.", "Two.", by="Elizabeth")
    await deliver(setup, "Three.")
    assert setup.webhook_names() == ["Elizabeth", "Aside"]
    assert [hook.avatar for hook in setup.discord.world.webhooks.values()] == ["uploaded", None]
    assert [name for name, _ in setup.read()] == ["Elizabeth", "Elizabeth", "Mr Bennet"]


async def test_another_picture_is_another_webhook(setup: PostingSetup) -> None:
    for picture in (draw_portrait(), draw_portrait() + b"\0"):
        setup.portraits.faces["Elizabeth"] = picture
        await deliver(setup, "One.", by="Elizabeth")
    assert setup.webhook_names() == ["Elizabeth", "Elizabeth"]


async def test_where_there_is_little_room_left_characters_share_the_common_webhook(
    setup: PostingSetup,
) -> None:
    for number in range(OWN_WEBHOOK_LIMIT):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    setup.portraits.faces["Elizabeth"] = draw_portrait()
    await deliver(setup, "One.", "Two.", by="Elizabeth")
    assert setup.webhook_names()[OWN_WEBHOOK_LIMIT:] == ["Aside"]
    assert len(setup.discord.asked("list_webhooks")) == 2


async def test_a_picture_discord_does_not_take_costs_the_picture_only(setup: PostingSetup) -> None:
    setup.portraits.faces["Elizabeth"] = b"no picture"
    await deliver(setup, "One.", by="Elizabeth")
    assert setup.read() == [("Elizabeth", "One.")]


async def test_a_full_channel_with_one_of_ours_in_it_uses_that(setup: PostingSetup) -> None:
    ours = setup.discord.world.webhook(setup.channel, "Elizabeth", setup.discord.bot)
    for number in range(14):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    await deliver(setup, "One.")
    assert setup.read() == [("Mr Bennet", "One.")]
    assert setup.channel.messages[0].webhook is ours


async def test_a_full_channel_makes_the_bot_speak_for_the_characters_and_say_why_once(
    setup: PostingSetup,
) -> None:
    for number in range(15):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    await deliver(setup, "One.", "Two.")
    notice, *replies = setup.texts()
    assert "has 15 webhooks, the most that Discord allows" in notice
    assert replies == ["**Mr Bennet**\nOne.", "**Mr Bennet**\nTwo."]


async def test_without_manage_webhooks_in_that_channel_the_bot_speaks_for_the_characters(
    setup: PostingSetup,
) -> None:
    deny(setup, "manage_webhooks")
    await setup.discord.until(lambda: _knows(setup, "manage_webhooks"))
    await deliver(setup, "One.", "Two. " * 500)
    notice, *replies = setup.texts()
    assert "Allow me Manage Webhooks" in notice
    assert "\\#study" in notice or "#study" in notice
    assert len(replies) == 3
    assert all(text.startswith("**Mr Bennet**\n") for text in replies)
    assert setup.discord.refused == 0


async def test_a_webhook_there_is_needs_no_permission(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    deny(setup, "manage_webhooks")
    await setup.discord.until(lambda: _knows(setup, "manage_webhooks"))
    await deliver(setup, "Two.")
    assert [name for name, _ in setup.read()] == ["Mr Bennet", "Mr Bennet"]


async def test_the_opening_says_at_once_that_a_permission_is_missing(setup: PostingSetup) -> None:
    deny(setup, "manage_webhooks")
    await setup.discord.until(lambda: _knows(setup, "manage_webhooks"))
    await setup.delivery.open(setup.scene())
    assert "Allow me Manage Webhooks" in setup.channel.messages[-1].content


async def test_webhooks_go_through_the_clients_proxy(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    (hook,) = setup.posts.hooks.values()
    setup.client.http.proxy = "http://127.0.0.1:9"
    assert Webhooks(setup.client, setup.posts).connect(hook).proxy == "http://127.0.0.1:9"


def _knows(setup: PostingSetup, name: str) -> bool:
    """Whether the client has heard that the permission is gone."""
    channel = setup.client.get_channel(setup.channel.id)
    assert isinstance(channel, discord.TextChannel)
    return not getattr(channel.permissions_for(channel.guild.me), name)
