"""The channel shows what the characters remember, whatever happens to its messages and webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.posting.reply_draft import CURSOR
from tests.engine.scripted_engine import Scripted
from tests.loopback import speech
from tests.play.harness import personas
from tests.play.take_harness import FIRST, MADAM, SECOND, asked, reads, ready, refused
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.loopback import DiscordMessage
    from tests.loopback.rest import RecordedRequest
    from tests.play.harness import Evening

PAGES = " ".join(f"Page {n} says that {n * 7} is more than {n}." for n in range(140))
LONG = reply("Mr Bennet", says=PAGES)


def delete_webhooks(evening: Evening) -> None:
    world = evening.discord.world
    for webhook in list(world.webhooks.values()):
        world.delete_webhook(webhook)


def allow(evening: Evening, permission: str) -> None:
    own = next(role for role in evening.guild.roles.values() if role.managed_by)
    evening.discord.world.overwrite(evening.stage, own, allow=permission)


def refused_notices(evening: Evening) -> list[RecordedRequest]:
    """Return the requests for messages of the bot's own that Discord refused."""
    sent = evening.discord.requests_to("create_message")
    return [request for request in sent if request.status >= 400]


def unfinished(evening: Evening) -> list[DiscordMessage]:
    return [message for message in evening.stage.messages if message.content.endswith(CURSOR)]


@pytest.mark.parametrize("position", [0, 1, -1])
async def test_a_reply_leaves_channel_and_minds_if_one_of_its_messages_is_deleted(
    evening: Evening, position: int
) -> None:
    allow(evening, "manage_messages")
    engine = await ready(LONG, MADAM)
    async with evening.online(engine):
        await evening.begin()
        await asked(evening, count=3)
        speech.delete(evening.discord.world, personas(evening.stage)[position])
        await evening.discord.until(lambda: not personas(evening.stage))
        await asked(evening, "@Mrs Bennet Mama?")
        assert "Page 7" not in engine.requests[-1].prompt.text


async def test_a_webhook_deleted_during_a_reply_leaves_no_unfinished_post(
    evening: Evening,
) -> None:
    allow(evening, "manage_messages")
    engine = await ready(FIRST, Scripted(LONG, chunk=300, pause=0.05))
    async with evening.online(engine):
        await evening.begin()
        first = await asked(evening)
        evening.lizzy.say(evening.stage, "@Mr Bennet Read to me!")
        await evening.discord.until(lambda: unfinished(evening))
        delete_webhooks(evening)
        await evening.discord.until(
            lambda: "Page 139" in "".join(m.content for m in personas(evening.stage)), 20
        )
        await evening.discord.quiet()
        assert not unfinished(evening)
        text = " ".join(m.content for m in personas(evening.stage) if m is not first)
        assert text == f"*smiles* {PAGES}"
        assert not first.labels
        assert personas(evening.stage)[-1].labels == ["Retry", "Write more", "More…"]


async def test_a_message_that_cannot_be_deleted_is_named_in_the_channel(evening: Evening) -> None:
    engine = await ready(Scripted(LONG, chunk=300, pause=0.05))
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Read to me!")
        await evening.discord.until(lambda: unfinished(evening))
        delete_webhooks(evening)
        await evening.discord.until(
            lambda: [m for m in evening.stage.messages if "allow me Manage Messages" in m.content],
            20,
        )
        evening.discord.forgive(50013)


async def test_a_reply_whose_webhook_was_deleted_is_not_posted_a_second_time(
    evening: Evening,
) -> None:
    engine = await ready(FIRST, SECOND, MADAM)
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        await evening.lizzy.press(post, "Retry")
        await reads(evening, post, "*frowns* You take him?")
        delete_webhooks(evening)
        await refused(
            evening, await evening.lizzy.press(post, "◀"), "because its webhook was deleted"
        )
        assert personas(evening.stage) == [post]
        assert post.content == "*frowns* You take him?"
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        assert "You take him?" in engine.requests[-1].prompt.text
        evening.discord.forgive(50013)


async def test_a_new_take_is_refused_if_the_old_one_cannot_be_removed(evening: Evening) -> None:
    engine = await ready(FIRST, SECOND, MADAM)
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        delete_webhooks(evening)
        await evening.lizzy.press(post, "Retry")
        await evening.discord.until(
            lambda: [m for m in evening.stage.messages if "webhook was deleted" in m.content]
        )
        await evening.discord.quiet()
        assert personas(evening.stage) == [post]
        assert post.content == "*smiles* You refuse him?"
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        prompt = engine.requests[-1].prompt.text
        assert "You refuse him?" in prompt
        assert "You take him?" not in prompt
        evening.discord.forgive(50013)


async def test_an_earlier_reply_gets_its_buttons_back_if_the_next_one_fails(
    evening: Evening,
) -> None:
    engine = await ready(FIRST, Scripted(LONG, chunk=300, pause=0.05))
    async with evening.online(engine):
        await evening.begin()
        first = await asked(evening)
        line = evening.lizzy.say(evening.stage, "@Mr Bennet Read to me!")
        await evening.discord.until(lambda: unfinished(evening))
        await evening.discord.until(lambda: not first.labels)
        evening.lizzy.delete(line)
        await evening.discord.until(lambda: first.labels)
        assert personas(evening.stage) == [first]


async def test_a_reply_missed_by_a_locked_thread_can_be_tried_again_once_it_is_unlocked(
    evening: Evening,
) -> None:
    thread = evening.gm.start_thread(evening.stage, "Act one")
    assert thread.thread
    engine = await ready(Scripted(FIRST, pause=0.1))
    async with evening.online(engine):
        await evening.begin(thread)
        evening.lizzy.say(thread, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: engine.requests)
        thread.thread.locked = thread.thread.archived = True
        evening.discord.world.channel_changed(thread)
        await evening.discord.until(lambda: refused_notices(evening))
        assert not personas(thread)
        thread.thread.locked = thread.thread.archived = False
        evening.discord.world.channel_changed(thread)
        await evening.discord.until(
            lambda: [message for message in thread.messages if "Try again" in message.labels]
        )
        (notice,) = [message for message in thread.messages if "Try again" in message.labels]
        await evening.lizzy.press(notice, "Try again")
        post = await evening.answer(thread)
        assert post.content == "*smiles* You refuse him?"
        assert len(engine.requests) == 1


async def test_a_reply_missed_without_permission_can_be_tried_again_once_it_is_granted(
    evening: Evening,
) -> None:
    world = evening.discord.world
    own = next(role for role in evening.guild.roles.values() if role.managed_by)
    engine = await ready(Scripted(FIRST, pause=0.1))
    async with evening.online(engine):
        await evening.begin()
        await evening.discord.quiet()
        delete_webhooks(evening)
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: engine.requests)
        world.overwrite(evening.stage, own, deny="send_messages manage_webhooks")
        await evening.discord.until(lambda: refused_notices(evening))
        assert not personas(evening.stage)
        world.overwrite(evening.stage, own, allow="send_messages")
        await evening.discord.until(
            lambda: [m for m in evening.stage.messages if "Try again" in m.labels]
        )
        evening.discord.forgive(50013)
