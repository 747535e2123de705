"""Webhooks: made once, made again where they are gone, and what happens where there can be none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import discord
import pytest

from bot.errors import PostingError
from bot.posting.webhooks import OWN_WEBHOOK_LIMIT, Persona, Webhooks
from tests.posting.conftest import portrait

if TYPE_CHECKING:
    from tests.posting.conftest import House


async def deliver(house: House, *texts: str, by: str = "Mr Bennet") -> None:
    for text in texts:
        await house.stage.deliver(house.scene(), house.turn(by=by), house.take(text))


def deny(house: House, *names: str) -> None:
    """Deny the bot something in the room, though the server allows it."""
    own = next(role for role in house.guild.roles.values() if role.managed_by)
    house.discord.world.overwrite(house.room, own, deny=" ".join(names))


async def test_one_webhook_serves_a_channel_and_its_threads(house: House) -> None:
    await deliver(house, "One.", "Two.", by="Elizabeth")
    await deliver(house, "Three.")
    await house.stage.deliver(house.scene(house.thread()), house.turn(), house.take("Four."))
    assert house.webhooks() == ["Aside"]
    assert len(house.discord.asked("create_webhook")) == 1


async def test_all_who_ask_at_once_share_one_webhook(house: House) -> None:
    house.discord.faults.slow("create_webhook", 0.05)
    place = house.scene().place
    webhooks = Webhooks(house.client, house.posts)
    hooks = await asyncio.gather(*(webhooks.of(place, Persona("Anna")) for _ in range(5)))
    assert len(set(hooks)) == len(house.webhooks()) == 1


async def test_whoever_stops_waiting_takes_the_webhook_from_nobody(house: House) -> None:
    house.discord.faults.slow("create_webhook", 0.05)
    webhooks = Webhooks(house.client, house.posts)
    place = house.scene().place
    first, second = (asyncio.create_task(webhooks.of(place, Persona("Anna"))) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    assert (await second).channel_id == house.room.id


async def test_a_webhook_that_could_not_be_made_is_asked_for_again(house: House) -> None:
    house.discord.faults.refuse("list_webhooks", 50001)
    with pytest.raises(PostingError):
        await Webhooks(house.client, house.posts).of(house.scene().place, Persona("Anna"))
    await deliver(house, "Here.")
    assert house.told() == [("Mr Bennet", "Here.")]


async def test_closing_ends_what_is_being_made(house: House) -> None:
    house.discord.faults.slow("list_webhooks", 0.3)
    webhooks = Webhooks(house.client, house.posts)
    asked = asyncio.create_task(webhooks.of(house.scene().place, Persona("Anna")))
    await asyncio.sleep(0.02)
    await webhooks.close()
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_a_restart_makes_no_second_webhook(house: House) -> None:
    await deliver(house, "One.")
    await house.restarted().deliver(house.scene(), house.turn(), house.take("Two."))
    assert house.webhooks() == ["Aside"]


async def test_a_webhook_that_the_store_lost_is_found_again(house: House) -> None:
    await deliver(house, "One.")
    house.posts.hooks.clear()
    await deliver(house, "Two.")
    assert house.webhooks() == ["Aside"]


async def test_a_webhook_that_a_moderator_deleted_is_made_anew(house: House) -> None:
    await deliver(house, "One.")
    house.discord.world.delete_webhook(next(iter(house.discord.world.webhooks.values())))
    await deliver(house, "Two.")
    assert [text for _, text in house.told()] == ["One.", "Two."]
    assert len(house.posts.hooks) == 1


async def test_a_webhook_that_was_moved_to_another_channel_is_left_behind(house: House) -> None:
    garden = house.discord.text_channel(house.guild, "garden")
    await deliver(house, "One.")
    next(iter(house.discord.world.webhooks.values())).channel = garden
    await deliver(house, "Two.")
    assert [text for _, text in house.told()] == ["One.", "Two."]
    assert garden.messages == []


async def test_webhooks_that_vanish_again_and_again_end_in_a_sentence(house: House) -> None:
    house.discord.faults.refuse("execute_webhook", 10015, times=3)
    with pytest.raises(PostingError, match="My webhooks in #study vanish"):
        await deliver(house, "One.")


async def test_a_character_with_a_picture_of_its_own_has_a_webhook_of_its_own(house: House) -> None:
    house.portraits.faces["Elizabeth"] = portrait()
    await deliver(house, "One.", "Two.", by="Elizabeth")
    await deliver(house, "Three.")
    assert house.webhooks() == ["Elizabeth", "Aside"]
    assert [hook.avatar for hook in house.discord.world.webhooks.values()] == ["uploaded", None]
    assert [name for name, _ in house.told()] == ["Elizabeth", "Elizabeth", "Mr Bennet"]


async def test_another_picture_is_another_webhook(house: House) -> None:
    for picture in (portrait(), portrait() + b"\0"):
        house.portraits.faces["Elizabeth"] = picture
        await deliver(house, "One.", by="Elizabeth")
    assert house.webhooks() == ["Elizabeth", "Elizabeth"]


async def test_where_there_is_little_room_left_characters_share_the_common_webhook(
    house: House,
) -> None:
    for number in range(OWN_WEBHOOK_LIMIT):
        house.discord.world.webhook(house.room, f"Other {number}", house.gm.user)
    house.portraits.faces["Elizabeth"] = portrait()
    await deliver(house, "One.", "Two.", by="Elizabeth")
    assert house.webhooks()[OWN_WEBHOOK_LIMIT:] == ["Aside"]
    assert len(house.discord.asked("list_webhooks")) == 2


async def test_a_picture_discord_does_not_take_costs_the_picture_only(house: House) -> None:
    house.portraits.faces["Elizabeth"] = b"no picture"
    await deliver(house, "One.", by="Elizabeth")
    assert house.told() == [("Elizabeth", "One.")]


async def test_a_full_channel_with_one_of_ours_in_it_uses_that(house: House) -> None:
    ours = house.discord.world.webhook(house.room, "Elizabeth", house.discord.bot)
    for number in range(14):
        house.discord.world.webhook(house.room, f"Other {number}", house.gm.user)
    await deliver(house, "One.")
    assert house.told() == [("Mr Bennet", "One.")]
    assert house.room.messages[0].webhook is ours


async def test_a_full_channel_makes_the_bot_speak_for_the_characters_and_say_why_once(
    house: House,
) -> None:
    for number in range(15):
        house.discord.world.webhook(house.room, f"Other {number}", house.gm.user)
    await deliver(house, "One.", "Two.")
    notice, *replies = [text for _, text in house.told()]
    assert "has all the 15 webhooks it may have" in notice
    assert replies == ["**Mr Bennet**\nOne.", "**Mr Bennet**\nTwo."]


async def test_without_manage_webhooks_in_that_channel_the_bot_speaks_for_the_characters(
    house: House,
) -> None:
    deny(house, "manage_webhooks")
    await house.discord.until(lambda: _knows(house, "manage_webhooks"))
    await deliver(house, "One.", "Two. " * 500)
    notice, *replies = [text for _, text in house.told()]
    assert "allow me Manage Webhooks" in notice
    assert "\\#study" in notice or "#study" in notice
    assert len(replies) == 3
    assert all(text.startswith("**Mr Bennet**\n") for text in replies)
    assert house.discord.refused == 0


async def test_a_webhook_there_is_needs_no_permission(house: House) -> None:
    await deliver(house, "One.")
    deny(house, "manage_webhooks")
    await house.discord.until(lambda: _knows(house, "manage_webhooks"))
    await deliver(house, "Two.")
    assert [name for name, _ in house.told()] == ["Mr Bennet", "Mr Bennet"]


async def test_the_opening_says_at_once_that_a_permission_is_missing(house: House) -> None:
    deny(house, "manage_webhooks")
    await house.discord.until(lambda: _knows(house, "manage_webhooks"))
    await house.stage.open(house.scene())
    assert "allow me Manage Webhooks" in house.room.messages[-1].content


async def test_webhooks_go_through_the_clients_proxy(house: House) -> None:
    await deliver(house, "One.")
    (hook,) = house.posts.hooks.values()
    house.client.http.proxy = "http://127.0.0.1:9"
    assert Webhooks(house.client, house.posts).live(hook).proxy == "http://127.0.0.1:9"


def _knows(house: House, name: str) -> bool:
    """Whether the client has heard that the permission is gone."""
    channel = house.client.get_channel(house.room.id)
    assert isinstance(channel, discord.TextChannel)
    return not getattr(channel.permissions_for(channel.guild.me), name)
