"""Connections that begin, break and resume."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
import pytest

from .entities import Privileged
from .server import LoopbackDiscord
from .stage_bot import StageBot

if TYPE_CHECKING:
    from .conftest import Play


async def test_a_bot_resumes_and_gets_the_events_that_it_missed(play: Play) -> None:
    await play.discord.gateway.close(4000)
    play.lizzy.say(play.stage, "Did you hear?")
    await play.discord.until(lambda: play.bot.resumed == 1)
    await play.discord.until(lambda: play.bot.heard)
    assert [message.content for message in play.bot.heard] == ["Did you hear?"]
    assert (play.discord.gateway.identified, play.discord.gateway.resumed) == (1, 1)


async def test_a_bot_reconnects_when_asked(play: Play) -> None:
    play.discord.gateway.reconnect()
    await play.discord.until(lambda: play.bot.resumed == 1)


async def test_a_bot_with_an_invalid_session_starts_a_new_one(play: Play) -> None:
    guild = play.discord.guild("Pemberley")
    play.discord.gateway.invalidate()
    play.lizzy.say(play.stage, "Lost")
    await play.discord.until(lambda: play.discord.gateway.identified == 2)
    await play.discord.until(lambda: play.bot.get_guild(guild.id))
    await play.discord.until(play.bot.is_ready)
    play.lizzy.say(play.stage, "Found")
    await play.discord.until(lambda: play.bot.heard)
    assert [message.content for message in play.bot.heard] == ["Found"]


async def test_a_forgotten_session_cannot_be_resumed(play: Play) -> None:
    play.discord.gateway.forget()
    await play.discord.gateway.close(4000)
    await play.discord.until(lambda: play.discord.gateway.identified == 2)


async def test_an_intent_that_the_portal_denies_is_refused() -> None:
    async with LoopbackDiscord(
        portal=frozenset({Privileged.MEMBERS, Privileged.PRESENCES})
    ) as loopback:
        loopback.guild()
        with pytest.raises(discord.PrivilegedIntentsRequired):
            async with loopback.running(StageBot(loopback.connector())):
                pass
        assert loopback.gateway.closed_with == [4014]


async def test_a_wrong_token_is_refused(loopback: LoopbackDiscord) -> None:
    loopback.token = "another"
    with pytest.raises(discord.LoginFailure):
        async with loopback.running(StageBot(loopback.connector())):
            pass


async def test_events_arrive_twice_and_in_the_wrong_order(play: Play) -> None:
    play.discord.gateway.repeat("MESSAGE_CREATE")
    play.lizzy.say(play.stage, "one")
    await play.discord.until(lambda: len(play.bot.heard) == 2)
    play.discord.gateway.reverse("MESSAGE_CREATE", 2)
    play.lizzy.say(play.stage, "two")
    play.lizzy.say(play.stage, "three")
    await play.discord.until(lambda: len(play.bot.heard) == 4)
    assert [message.content for message in play.bot.heard] == ["one", "one", "three", "two"]


async def test_the_members_intent_decides_which_members_a_bot_knows(play: Play) -> None:
    server = play.bot.get_guild(play.guild.id)
    assert server
    assert {member.display_name for member in server.members} == {
        "Longbourn owner",
        "Loopback Bot",
        "Elizabeth",
    }
    jane = play.discord.person("Jane", play.guild)
    await play.discord.until(lambda: server.get_member(jane.id))
    found = await server.query_members("jan")
    assert [member.id for member in found] == [jane.id]
    play.discord.world.leave(play.guild, jane.user)
    await play.discord.until(lambda: server.get_member(jane.id) is None)


async def test_without_the_members_intent_members_are_unknown_until_they_speak(
    loopback: LoopbackDiscord,
) -> None:
    guild = loopback.guild()
    stage = loopback.text_channel(guild, "stage")
    lizzy = loopback.person("Lizzy", guild)
    bot = StageBot(loopback.connector(), intents=discord.Intents(guilds=True, guild_messages=True))
    async with loopback.running(bot):
        server = bot.get_guild(guild.id)
        assert server
        assert [member.id for member in server.members] == [loopback.bot.id]
        lizzy.say(stage, "It is I")
        await loopback.until(lambda: bot.heard)
        assert isinstance(bot.heard[0].author, discord.Member)


async def test_a_bot_gets_no_events_of_channels_that_it_cannot_see(play: Play) -> None:
    hidden = play.discord.text_channel(play.guild, "upstairs")
    play.discord.withdraw("view_channel", hidden)
    play.lizzy.say(hidden, "whispers")
    play.lizzy.say(play.stage, "aloud")
    await play.discord.until(lambda: play.bot.heard)
    assert [message.content for message in play.bot.heard] == ["aloud"]


async def test_a_bot_is_invited_and_removed(play: Play) -> None:
    guild = play.discord.guild("Netherfield")
    await play.discord.until(lambda: play.bot.get_guild(guild.id))
    play.discord.world.leave(guild, play.discord.bot)
    await play.discord.until(lambda: play.bot.get_guild(guild.id) is None)


async def test_an_outage_does_not_remove_the_bot(play: Play) -> None:
    left: list[discord.Guild] = []

    @play.bot.listen()
    async def on_guild_remove(guild: discord.Guild) -> None:
        left.append(guild)

    play.discord.world.outage(play.guild)
    await play.discord.until(lambda: [each for each in play.bot.guilds if each.unavailable])
    play.discord.world.outage_over(play.guild)
    await play.discord.until(lambda: not [each for each in play.bot.guilds if each.unavailable])
    assert left == []


async def test_a_bot_retries_while_the_gateway_is_down(play: Play) -> None:
    play.discord.gateway.down = True
    await play.discord.gateway.close(1001)
    await play.discord.until(lambda: play.discord.gateway.closed_with == [503])
    play.lizzy.say(play.stage, "Anybody?")
    play.discord.gateway.down = False
    await play.discord.until(lambda: play.bot.heard, 15)
    assert play.bot.heard[0].content == "Anybody?"
