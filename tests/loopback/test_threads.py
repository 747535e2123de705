"""Threads and forums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
import pytest

from .entities import ChannelKind
from .stage_bot import persona, text_channel

if TYPE_CHECKING:
    from .conftest import Play


async def test_the_bot_opens_threads_of_every_kind(play: Play) -> None:
    stage = text_channel(play.bot, play.stage.id)
    public = await stage.create_thread(name="open", type=discord.ChannelType.public_thread)
    private = await stage.create_thread(name="closed", type=discord.ChannelType.private_thread)
    play.lizzy.say(play.stage, "a start")
    await play.discord.until(lambda: [each for each in play.bot.heard if each.content == "a start"])
    grown = await play.bot.heard[-1].create_thread(name="grown")
    threads = {each.id: each for each in play.guild.channels.values() if each.thread}
    assert [threads[each.id].name for each in (public, private, grown)] == [
        "open",
        "closed",
        "grown",
    ]
    assert grown.id == play.bot.heard[-1].id
    await private.send("who is there?")
    assert play.lizzy.sees(threads[private.id]) == []
    member = play.bot.get_guild(play.guild.id)
    assert member
    await private.add_user(discord.Object(play.lizzy.id))
    assert [each.content for each in play.lizzy.sees(threads[private.id])] == ["who is there?"]


async def test_a_bot_posts_in_a_forum(play: Play) -> None:
    forum = play.discord.world.channel(play.guild, "plays", ChannelKind.FORUM)
    await play.discord.until(lambda: play.bot.get_channel(forum.id))
    seen = play.bot.get_channel(forum.id)
    assert isinstance(seen, discord.ForumChannel)
    created = await seen.create_thread(name="Act one", content="It is a truth…")
    assert created.message.content == "It is a truth…"
    assert [
        message.content for message in play.discord.world.channels[created.thread.id].messages
    ] == ["It is a truth…"]


async def test_writing_reopens_an_archived_thread_but_editing_fails(play: Play) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    thread = await text_channel(play.bot, play.stage.id).create_thread(
        name="t", type=discord.ChannelType.public_thread
    )
    sent = await webhook.send("before", thread=thread, wait=True)
    await thread.edit(archived=True)
    with pytest.raises(discord.HTTPException) as archived:
        await webhook.edit_message(sent.id, content="changed", thread=thread)
    assert archived.value.code == 50083
    await thread.send("awake")
    await webhook.edit_message(sent.id, content="changed", thread=thread)
    state = play.discord.world.channels[thread.id].thread
    assert state
    assert not state.archived


async def test_a_locked_thread_refuses_messages(play: Play) -> None:
    thread = play.lizzy.start_thread(play.stage, "t")
    await play.discord.until(lambda: play.bot.get_channel(thread.id))
    seen = play.bot.get_channel(thread.id)
    assert isinstance(seen, discord.Thread)
    assert thread.thread
    thread.thread.locked = True
    await seen.send("who manages threads may")
    play.discord.withdraw("manage_threads", play.stage)
    with pytest.raises(discord.Forbidden) as locked:
        await seen.send("others may not")
    assert locked.value.code == 160005


async def test_send_messages_does_not_include_threads(play: Play) -> None:
    play.discord.world.overwrite(play.stage, play.guild.everyone, deny="send_messages_in_threads")
    thread = play.lizzy.start_thread(play.stage, "t")
    await play.discord.until(lambda: play.bot.get_channel(thread.id))
    seen = play.bot.get_channel(thread.id)
    assert isinstance(seen, discord.Thread)
    with pytest.raises(discord.Forbidden) as refused:
        await seen.send("mute")
    assert refused.value.code == 50013
    await text_channel(play.bot, play.stage.id).send("not mute")


async def test_deleting_a_channel_deletes_its_threads_and_webhooks(play: Play) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    thread = play.lizzy.start_thread(play.stage, "t")
    seen = text_channel(play.bot, play.stage.id)
    play.discord.world.delete_channel(play.stage)
    assert thread.id not in play.discord.world.channels
    with pytest.raises(discord.NotFound) as unknown:
        await seen.send("anybody?")
    assert unknown.value.code == 10003
    with pytest.raises(discord.NotFound) as unknown:
        await webhook.send("anybody?", wait=True)
    assert unknown.value.code == 10015


async def test_threads_are_listed(play: Play) -> None:
    thread = play.lizzy.start_thread(play.stage, "t")
    server = play.bot.get_guild(play.guild.id)
    assert server
    assert [each.id for each in await server.active_threads()] == [thread.id]
    assert thread.thread
    thread.thread.archived = True
    archived = [each.id async for each in text_channel(play.bot, play.stage.id).archived_threads()]
    assert archived == [thread.id]
