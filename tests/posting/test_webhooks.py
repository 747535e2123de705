"""Webhooks are created once, replaced if deleted, and not needed to play."""

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
    """Deny the bot permissions in the channel that the server grants."""
    own = next(role for role in setup.guild.roles.values() if role.managed_by)
    setup.discord.world.overwrite(setup.channel, own, deny=" ".join(names))


async def test_one_webhook_serves_a_channel_and_its_threads(setup: PostingSetup) -> None:
    await deliver(setup, "One.", "Two.", by="Elizabeth")
    await deliver(setup, "Three.")
    await setup.delivery.deliver(
        setup.scene(setup.start_thread()), setup.turn(), setup.take("Four.")
    )
    assert setup.webhook_names() == ["Aside"]
    assert len(setup.discord.requests_to("create_webhook")) == 1


async def test_concurrent_callers_share_one_webhook(setup: PostingSetup) -> None:
    setup.discord.faults.slow("create_webhook", 0.05)
    place = setup.scene().place
    webhooks = Webhooks(setup.client, setup.posts)
    hooks = await asyncio.gather(*(webhooks.get(place, Persona("Anna")) for _ in range(5)))
    assert len(set(hooks)) == len(setup.webhook_names()) == 1


async def test_a_cancelled_caller_does_not_cancel_the_webhook_for_others(
    setup: PostingSetup,
) -> None:
    setup.discord.faults.slow("create_webhook", 0.05)
    webhooks = Webhooks(setup.client, setup.posts)
    place = setup.scene().place
    first, second = (asyncio.create_task(webhooks.get(place, Persona("Anna"))) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    assert (await second).channel_id == setup.channel.id


async def test_a_webhook_that_could_not_be_created_is_requested_again(setup: PostingSetup) -> None:
    setup.discord.faults.refuse("list_webhooks", 50001)
    with pytest.raises(PostingError):
        await Webhooks(setup.client, setup.posts).get(setup.scene().place, Persona("Anna"))
    await deliver(setup, "Here.")
    assert setup.read() == [("Mr Bennet", "Here.")]


async def test_closing_cancels_the_creation_of_webhooks(setup: PostingSetup) -> None:
    setup.discord.faults.slow("list_webhooks", 0.3)
    webhooks = Webhooks(setup.client, setup.posts)
    asked = asyncio.create_task(webhooks.get(setup.scene().place, Persona("Anna")))
    await asyncio.sleep(0.02)
    await webhooks.close()
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_a_restart_creates_no_second_webhook(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    await setup.restart().deliver(setup.scene(), setup.turn(), setup.take("Two."))
    assert setup.webhook_names() == ["Aside"]


async def test_a_webhook_that_the_store_lost_is_found_again(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    setup.posts.hooks.clear()
    await deliver(setup, "Two.")
    assert setup.webhook_names() == ["Aside"]


async def test_a_deleted_webhook_is_created_again(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    setup.discord.world.delete_webhook(next(iter(setup.discord.world.webhooks.values())))
    await deliver(setup, "Two.")
    assert setup.texts() == ["One.", "Two."]
    assert len(setup.posts.hooks) == 1


async def test_a_webhook_that_was_moved_to_another_channel_is_replaced(
    setup: PostingSetup,
) -> None:
    garden = setup.discord.text_channel(setup.guild, "garden")
    await deliver(setup, "One.")
    next(iter(setup.discord.world.webhooks.values())).channel = garden
    await deliver(setup, "Two.")
    assert setup.texts() == ["One.", "Two."]
    assert garden.messages == []


async def test_an_error_is_raised_if_new_webhooks_are_deleted_again_and_again(
    setup: PostingSetup,
) -> None:
    setup.discord.faults.refuse("execute_webhook", 10015, times=3)
    with pytest.raises(PostingError, match="My webhooks in #study are deleted"):
        await deliver(setup, "One.")


async def test_a_character_with_a_picture_file_has_its_own_webhook(
    setup: PostingSetup,
) -> None:
    setup.portraits.faces["Elizabeth"] = draw_portrait()
    await deliver(setup, "One.", "Two.", by="Elizabeth")
    await deliver(setup, "Three.")
    assert setup.webhook_names() == ["Elizabeth", "Aside"]
    assert [hook.avatar for hook in setup.discord.world.webhooks.values()] == ["uploaded", None]
    assert [name for name, _ in setup.read()] == ["Elizabeth", "Elizabeth", "Mr Bennet"]


async def test_a_character_with_another_picture_gets_another_webhook(setup: PostingSetup) -> None:
    for picture in (draw_portrait(), draw_portrait() + b"\0"):
        setup.portraits.faces["Elizabeth"] = picture
        await deliver(setup, "One.", by="Elizabeth")
    assert setup.webhook_names() == ["Elizabeth", "Elizabeth"]


async def test_characters_share_a_webhook_if_the_channel_is_almost_full(
    setup: PostingSetup,
) -> None:
    for number in range(OWN_WEBHOOK_LIMIT):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    setup.portraits.faces["Elizabeth"] = draw_portrait()
    await deliver(setup, "One.", "Two.", by="Elizabeth")
    assert setup.webhook_names()[OWN_WEBHOOK_LIMIT:] == ["Aside"]
    assert len(setup.discord.requests_to("list_webhooks")) == 2


async def test_a_character_whose_picture_discord_rejects_posts_without_it(
    setup: PostingSetup,
) -> None:
    setup.portraits.faces["Elizabeth"] = b"no picture"
    await deliver(setup, "One.", by="Elizabeth")
    assert setup.read() == [("Elizabeth", "One.")]


async def test_a_full_channel_uses_a_webhook_of_asides_own(setup: PostingSetup) -> None:
    ours = setup.discord.world.webhook(setup.channel, "Elizabeth", setup.discord.bot)
    for number in range(14):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    await deliver(setup, "One.")
    assert setup.read() == [("Mr Bennet", "One.")]
    assert setup.channel.messages[0].webhook is ours


async def test_the_bot_speaks_for_characters_if_the_channel_is_full_and_gives_the_reason_once(
    setup: PostingSetup,
) -> None:
    for number in range(15):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    await deliver(setup, "One.", "Two.")
    notice, *replies = setup.texts()
    assert "has 15 webhooks, the most that Discord allows" in notice
    assert replies == ["**Mr Bennet**\nOne.", "**Mr Bennet**\nTwo."]


async def test_the_bot_speaks_for_characters_without_manage_webhooks(
    setup: PostingSetup,
) -> None:
    deny(setup, "manage_webhooks")
    await setup.discord.until(lambda: _is_denied(setup, "manage_webhooks"))
    await deliver(setup, "One.", "Two. " * 500)
    notice, *replies = setup.texts()
    assert "Allow me Manage Webhooks" in notice
    assert "\\#study" in notice or "#study" in notice
    assert len(replies) == 3
    assert all(text.startswith("**Mr Bennet**\n") for text in replies)
    assert setup.discord.refused == 0


async def test_an_existing_webhook_needs_no_permission(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    deny(setup, "manage_webhooks")
    await setup.discord.until(lambda: _is_denied(setup, "manage_webhooks"))
    await deliver(setup, "Two.")
    assert [name for name, _ in setup.read()] == ["Mr Bennet", "Mr Bennet"]


async def test_the_opening_says_at_once_that_a_permission_is_missing(setup: PostingSetup) -> None:
    deny(setup, "manage_webhooks")
    await setup.discord.until(lambda: _is_denied(setup, "manage_webhooks"))
    await setup.delivery.open(setup.scene())
    assert "Allow me Manage Webhooks" in setup.channel.messages[-1].content


async def test_webhooks_go_through_the_clients_proxy(setup: PostingSetup) -> None:
    await deliver(setup, "One.")
    (hook,) = setup.posts.hooks.values()
    setup.client.http.proxy = "http://127.0.0.1:9"
    assert Webhooks(setup.client, setup.posts).connect(hook).proxy == "http://127.0.0.1:9"


def _is_denied(setup: PostingSetup, name: str) -> bool:
    """Return whether the client knows that the permission is missing."""
    channel = setup.client.get_channel(setup.channel.id)
    assert isinstance(channel, discord.TextChannel)
    return not getattr(channel.permissions_for(channel.guild.me), name)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (60003, "requires two-factor authentication"),
        (30007, "the most that Discord allows"),
        (50013, "Allow me Manage Webhooks"),
        (50035, r"(error 50035)"),
        (20012, r"(error 20012)"),
    ],
)
async def test_the_bot_speaks_for_characters_if_discord_refuses_a_webhook(
    setup: PostingSetup, code: int, sentence: str
) -> None:
    setup.discord.faults.refuse("create_webhook", code, times=10)
    await deliver(setup, "One.", "Two.")
    notice, *replies = setup.texts()
    assert sentence in notice.replace("\\", "")
    assert replies == ["**Mr Bennet**\nOne.", "**Mr Bennet**\nTwo."]
    assert len(setup.discord.requests_to("create_webhook")) == 1
    setup.discord.forgive(code)


async def test_a_picture_that_discord_refuses_does_not_block_the_shared_webhook(
    setup: PostingSetup,
) -> None:
    setup.portraits.faces["Elizabeth"] = draw_portrait()
    setup.discord.faults.refuse("create_webhook", 50035)
    await deliver(setup, "One.", "Two.", by="Elizabeth")
    assert setup.read() == [("Elizabeth", "One."), ("Elizabeth", "Two.")]
    assert setup.webhook_names() == ["Aside"]
    setup.discord.forgive(50035)


async def test_the_bot_takes_over_if_the_webhook_is_deleted_and_no_other_is_allowed(
    setup: PostingSetup,
) -> None:
    await deliver(setup, "One.")
    setup.discord.world.delete_webhook(next(iter(setup.discord.world.webhooks.values())))
    setup.discord.faults.refuse("create_webhook", 60003, times=10)
    await deliver(setup, "Two. " * 500)
    texts = setup.texts()
    assert texts[0] == "One."
    assert "two-factor" in texts[1]
    assert all(text.startswith("**Mr Bennet**\nTwo.") for text in texts[2:])
    assert len(texts) == 4


async def test_an_error_that_may_pass_does_not_make_the_bot_speak_for_characters(
    setup: PostingSetup,
) -> None:
    setup.discord.faults.drop("create_webhook")
    with pytest.raises(PostingError, match="did not respond"):
        await deliver(setup, "One.")
    await deliver(setup, "One.")
    assert setup.read() == [("Mr Bennet", "One.")]
