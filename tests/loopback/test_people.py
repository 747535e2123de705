"""DMs, roles, permissions."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import discord
import pytest

from .refusals import NO_SUCH_ADDRESS
from .stage_bot import text_channel

if TYPE_CHECKING:
    from .conftest import Play


async def test_a_dm_has_two_readers(play: Play) -> None:
    user = await play.bot.fetch_user(play.lizzy.id)
    await user.send("Between us")
    assert [message.content for message in play.lizzy.dms] == ["Between us"]
    play.lizzy.say(play.lizzy.dm, "Quite.")
    await play.discord.until(lambda: len(play.bot.heard) == 2)
    assert isinstance(play.bot.heard[1].channel, discord.DMChannel)
    jane = play.discord.person("Jane", play.guild)
    assert "Between us" not in jane.ever_saw()


async def test_closed_dms_refuse_the_bot(play: Play) -> None:
    play.lizzy.user.dms_open = False
    user = await play.bot.fetch_user(play.lizzy.id)
    with pytest.raises(discord.Forbidden) as closed:
        await user.send("Between us")
    assert closed.value.code == 50007
    stranger = await play.bot.fetch_user(play.discord.person("Stranger").id)
    with pytest.raises(discord.Forbidden) as closed:
        await stranger.send("Hello")
    assert closed.value.code == 50278


async def test_a_role_is_created_given_mentioned_and_deleted(play: Play) -> None:
    own = next(role for role in play.guild.roles.values() if role.managed_by)
    server = play.bot.get_guild(play.guild.id)
    assert server
    with pytest.raises(discord.Forbidden):
        await server.create_role(name="Mr Bennet", mentionable=True)
    own.permissions |= discord.Permissions(manage_roles=True).value
    role = await server.create_role(name="Mr Bennet", mentionable=True)
    member = server.get_member(play.lizzy.id)
    assert member
    await member.add_roles(role)
    assert play.guild.roles[role.id] in play.lizzy.member_of(play.guild).roles
    said = play.lizzy.say(play.stage, f"{play.guild.roles[role.id].mention} Papa?")
    await play.discord.until(lambda: play.bot.heard)
    assert play.bot.heard[0].role_mentions == [role]
    assert said.pings == {str(role.id)}
    await role.edit(name="Mr Darcy")
    assert play.guild.roles[role.id].name == "Mr Darcy"
    await role.delete()
    assert role.id not in play.guild.roles


async def test_a_role_above_the_bots_own_cannot_be_changed(play: Play) -> None:
    own = next(role for role in play.guild.roles.values() if role.managed_by)
    own.permissions |= discord.Permissions(manage_roles=True).value
    own.position = 1
    high = play.discord.world.role(play.guild, "high")
    high.position = 5
    server = play.bot.get_guild(play.guild.id)
    assert server
    with pytest.raises(discord.Forbidden):
        await play.bot.http.delete_role(server.id, high.id)


async def test_a_channel_is_changed(play: Play) -> None:
    own = next(role for role in play.guild.roles.values() if role.managed_by)
    own.permissions |= discord.Permissions(manage_channels=True).value
    stage = text_channel(play.bot, play.stage.id)
    await stage.edit(topic="A comedy", name="parlour")
    assert (play.stage.topic, play.stage.name) == ("A comedy", "parlour")
    server = play.bot.get_guild(play.guild.id)
    assert server
    made = await server.create_text_channel("garden")
    await made.delete()
    assert made.id not in play.discord.world.channels


async def test_a_timeout_silences_a_person(play: Play) -> None:
    play.guild.members[play.discord.bot.id].timed_out_until = play.discord.clock.now() + 60
    with pytest.raises(discord.Forbidden):
        await text_channel(play.bot, play.stage.id).send("mute")
    play.discord.clock.advance(61)
    await text_channel(play.bot, play.stage.id).send("not mute")


async def test_people_and_servers_can_be_fetched(play: Play) -> None:
    server = await play.bot.fetch_guild(play.guild.id)
    member = await server.fetch_member(play.lizzy.id)
    assert member.display_name == "Elizabeth"
    assert {each.id async for each in server.fetch_members()} == set(play.guild.members)
    info = await play.bot.application_info()
    assert info.flags.gateway_message_content_limited
    assert info.id == play.discord.bot.id
    with pytest.raises(discord.NotFound) as unknown:
        await play.bot.fetch_user(1)
    assert unknown.value.code == 10013


async def test_an_unknown_address_is_a_violation(play: Play) -> None:
    with pytest.raises(discord.NotFound):
        await play.bot.http.request(discord.http.Route("GET", "/nowhere"))
    assert [each.code for each in play.discord.forgive()] == [NO_SUCH_ADDRESS]


async def test_a_person_remembers_every_text_that_they_could_read(play: Play) -> None:
    thread = play.lizzy.start_thread(play.stage, "The letter")
    await play.discord.until(lambda: play.bot.get_channel(thread.id))
    seen = play.bot.get_channel(thread.id)
    assert isinstance(seen, discord.Thread)
    file = discord.File(io.BytesIO(b"Be not alarmed, madam"), "letter.txt")
    await seen.send("Wickham lied", embed=discord.Embed(title="and Darcy knew"), file=file)
    await seen.edit(name="Nothing")
    await seen.delete()
    await play.bot.change_presence(activity=discord.Game("whist"))
    await play.discord.until(lambda: play.discord.world.presences)
    saw = play.lizzy.ever_saw()
    assert all(
        text in saw
        for text in ("The letter", "Nothing", "Wickham lied", "and Darcy knew", "alarmed", "whist")
    )
    assert "Wickham" not in play.discord.person("Stranger").ever_saw()


async def test_the_ephemeral_flag_does_not_hide_an_ordinary_message(play: Play) -> None:
    await play.bot.http.request(
        discord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=play.stage.id),
        json={"content": "for all", "flags": 64},
    )
    assert [message.now.flags for message in play.stage.messages] == [0]


async def test_a_person_types(play: Play) -> None:
    typing: list[str] = []

    @play.bot.listen()
    async def on_typing(_channel: object, user: discord.User, _when: object) -> None:
        typing.append(user.display_name)

    play.lizzy.starts_typing(play.stage)
    await play.discord.until(lambda: typing == ["Elizabeth"])
