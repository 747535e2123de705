"""Webhooks are as on Discord: they post into threads, carry buttons, and have faces."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import discord
import pytest
from simcord.results import ResponseMessage

from bot.tryout import avatars
from tests.tryout.conftest import SmallBot, World, world

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

FACE = avatars.initial("Mr Bennet", "#336699")


async def hook_of(message: discord.Message) -> discord.Webhook:
    channel = (
        message.channel.parent if isinstance(message.channel, discord.Thread) else message.channel
    )
    assert isinstance(channel, discord.TextChannel)
    return await channel.create_webhook(name="Mr Bennet", avatar=FACE)


async def heard(
    act: Callable[[discord.Message], Awaitable[None]], *, in_thread: bool = False
) -> World:
    """Return the world after a person said something to a bot that does `act`."""
    async with world(SmallBot(act)) as town:
        await town.say("Papa?", place=town.thread if in_thread else None)
        return town


async def test_a_persona_speaks_in_the_thread_it_was_sent_to() -> None:
    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        post = await hook.send("Come in.", wait=True, thread=message.channel)
        await hook.edit_message(post.id, content="Come in, Lizzy.", thread=message.channel)

    town = await heard(speak, in_thread=True)
    assert town.said(town.thread) == ["Papa?", "Come in, Lizzy."]
    assert town.said() == []


async def test_a_persona_can_be_taken_out_of_a_thread() -> None:
    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        post = await hook.send("Come in.", wait=True, thread=message.channel)
        await hook.delete_message(post.id, thread=message.channel)

    town = await heard(speak, in_thread=True)
    assert town.said(town.thread) == ["Papa?"]


async def test_a_thread_of_another_channel_is_not_found() -> None:
    refused: list[discord.NotFound] = []

    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        with pytest.raises(discord.NotFound) as caught:
            await hook.send("Come in.", wait=True, thread=discord.Object(message.id))
        refused.append(caught.value)

    town = await heard(speak)
    assert refused[0].code == 10003
    assert town.said() == ["Papa?"]


async def test_a_button_on_a_persona_s_post_can_be_pressed() -> None:
    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        await hook.send("Come in.", wait=True, view=Door(timeout=None))

    async with world(SmallBot(speak)) as town:
        await town.say("Papa?")
        post = list(town.live.backend.messages[town.town.stage.id].values())[-1]
        async with town.live.step:
            await town.town.player.member.click(ResponseMessage(town.live, post), custom_id="knock")
        assert town.said() == ["Papa?", "Come in.", "Who is there?"]


async def test_buttons_come_with_files_too_and_go_again() -> None:
    kept: list[list[str]] = []

    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        note = discord.File(io.BytesIO(b"Come in."), filename="note.txt")
        post = await hook.send("See.", wait=True, view=Door(timeout=None), file=note)
        for view in (Door(timeout=None), None):
            edited = await hook.edit_message(post.id, content="Look.", view=view)
            fetched = await message.channel.fetch_message(post.id)
            kept.append(
                [edited.content, *(str(len(each.components)) for each in (edited, fetched))]
            )

    town = await heard(speak)
    assert town.said() == ["Papa?", "Look."]
    assert kept == [["Look.", "1", "1"], ["Look.", "0", "0"]]


async def test_a_webhook_s_picture_is_the_face_of_what_it_posts() -> None:
    async def speak(message: discord.Message) -> None:
        await (await hook_of(message)).send("Come in.", wait=True)

    async with world(SmallBot(speak)) as town:
        await town.say("Papa?")
        post = list(town.live.backend.messages[town.town.stage.id].values())[-1]
        author = town.live.backend.users[post.author_id]
        assert author.avatar is not None
        urls = [f"https://cdn.simcord.invalid/avatars/{author.id}/{author.avatar}.png"]
        assert [town.live.backend.cdn.get(url) for url in urls] == [FACE]


class Door(discord.ui.View):
    @discord.ui.button(label="Knock", custom_id="knock")
    async def knock(
        self, interaction: discord.Interaction, _button: discord.ui.Button[Door]
    ) -> None:
        await interaction.response.send_message("Who is there?")
