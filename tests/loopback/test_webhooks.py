"""Webhook messages: where they arrive, who may change them, and refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
import pytest

from .entities import ChannelKind
from .stage_bot import persona, text_channel

if TYPE_CHECKING:
    from .conftest import Play


async def test_a_persona_post_is_sent_edited_and_deleted(play: Play) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    sent = await webhook.send(
        "Good evening.", username="Mr Bennet", avatar_url="https://example.com/b.png", wait=True
    )
    [post] = play.stage.messages
    assert (post.name, post.content, post.webhook and post.webhook.id) == (
        "Mr Bennet",
        "Good evening.",
        webhook.id,
    )
    await sent.edit(content="Good night.")
    await sent.delete()
    assert play.stage.messages == []
    assert [state.content for state in post.states] == ["Good evening.", "Good night."]
    assert "Good night." in play.lizzy.ever_saw()
    await play.discord.until(lambda: play.bot.heard)
    assert play.bot.heard[0].webhook_id == play.bot.heard[0].author.id == webhook.id


async def test_a_thread_uses_its_parents_webhook(play: Play) -> None:
    thread = play.lizzy.start_thread(play.stage, "Act one")
    webhook = await persona(text_channel(play.bot, play.stage.id))
    inside = discord.Object(thread.id)
    sent = await webhook.send("In here.", thread=inside, wait=True)
    assert [message.content for message in thread.messages] == ["In here."]
    assert [message.content for message in play.stage.messages] == [
        "Act one"
    ]  # the thread's own notice
    with pytest.raises(discord.NotFound) as lost:
        await webhook.edit_message(sent.id, content="Where?")
    assert lost.value.code == 10008
    await webhook.edit_message(sent.id, content="Still here.", thread=inside)
    assert thread.messages[0].content == "Still here."
    await webhook.delete_message(sent.id, thread=inside)
    assert thread.messages == []


async def test_a_thread_of_another_channel_is_unknown(play: Play) -> None:
    elsewhere = play.lizzy.start_thread(play.discord.text_channel(play.guild, "garden"), "Act two")
    webhook = await persona(text_channel(play.bot, play.stage.id))
    with pytest.raises(discord.NotFound) as unknown:
        await webhook.send("Hello?", thread=discord.Object(elsewhere.id), wait=True)
    assert unknown.value.code == 10003


async def test_a_thread_has_no_webhooks_of_its_own(play: Play) -> None:
    thread = play.lizzy.start_thread(play.stage, "Act one")
    with pytest.raises(discord.HTTPException) as refused:
        await play.bot.http.create_webhook(thread.id, name="Aside")
    assert refused.value.code == 50024
    play.discord.forgive(50024)


async def test_a_forum_needs_a_thread_or_a_name_for_one(play: Play) -> None:
    channel = play.discord.world.channel(play.guild, "plays", ChannelKind.FORUM)
    await play.discord.until(lambda: play.bot.get_channel(channel.id))
    forum = play.bot.get_channel(channel.id)
    assert isinstance(forum, discord.ForumChannel)
    webhook = await persona(forum)
    with pytest.raises(discord.HTTPException) as refused:
        await webhook.send("Where?", wait=True)
    assert refused.value.code == 220001
    sent = await webhook.send("Here.", thread_name="Act one", wait=True)
    [thread] = [each for each in play.guild.channels.values() if each.parent is channel]
    assert (thread.name, thread.messages[0].content) == ("Act one", "Here.")
    assert sent.channel.id == thread.id
    play.discord.forgive(220001)


async def test_forbidden_names_are_refused(play: Play) -> None:
    stage = text_channel(play.bot, play.stage.id)
    webhook = await persona(stage)
    for name in ("Clyde", "my DisCord friend", "x" * 81):
        with pytest.raises(discord.HTTPException) as refused:
            await webhook.send("Hello", username=name, wait=True)
        assert refused.value.code == 50035
    with pytest.raises(discord.HTTPException):
        await stage.create_webhook(name="Clyde")
    assert len(play.discord.forgive(50035)) == 4
    await webhook.send("Hello", username="Cly\u200bde", wait=True)


async def test_the_sixteenth_webhook_is_refused(play: Play) -> None:
    stage = text_channel(play.bot, play.stage.id)
    for number in range(15):
        await stage.create_webhook(name=f"Aside {number}")
    with pytest.raises(discord.HTTPException) as refused:
        await stage.create_webhook(name="one more")
    assert refused.value.code == 30007
    assert [each.code for each in play.discord.forgive()] == [30007]


async def test_a_deleted_webhook_is_unknown(play: Play) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    play.discord.world.delete_webhook(play.discord.world.webhooks[webhook.id])
    with pytest.raises(discord.NotFound) as unknown:
        await webhook.send("Hello?", wait=True)
    assert unknown.value.code == 10015


async def test_a_channel_can_deny_a_servers_permission(play: Play) -> None:
    play.discord.world.overwrite(play.stage, play.guild.everyone, deny="manage_webhooks")
    own = next(role for role in play.guild.roles.values() if role.managed_by)
    with pytest.raises(discord.Forbidden) as refused:
        await text_channel(play.bot, play.stage.id).create_webhook(name="Aside")
    assert refused.value.code == 50013
    play.discord.world.overwrite(play.stage, own, allow="manage_webhooks")
    await text_channel(play.bot, play.stage.id).create_webhook(name="Aside")
    play.discord.world.overwrite(play.stage, own, deny="view_channel")
    with pytest.raises(discord.Forbidden) as refused:
        await text_channel(play.bot, play.stage.id).webhooks()
    assert refused.value.code == 50001


async def test_a_file_stays_through_an_edit(play: Play) -> None:
    import io

    webhook = await persona(text_channel(play.bot, play.stage.id))
    sent = await webhook.send(
        "A letter", file=discord.File(io.BytesIO(b"Dear sir"), "letter.txt"), wait=True
    )
    await sent.edit(content="A letter from Lizzy")
    [post] = play.stage.messages
    [attachment] = post.now.attachments
    assert play.discord.world.files[int(attachment["id"])] == b"Dear sir"
    assert await sent.attachments[0].read() == b"Dear sir"
