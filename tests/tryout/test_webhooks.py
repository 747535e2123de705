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

FACE = avatars.draw_initial("Mr Bennet", "#336699")


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
    async with world(SmallBot(act)) as demo:
        await demo.say("Papa?", place=demo.thread if in_thread else None)
        return demo


async def test_a_persona_speaks_in_the_thread_it_was_sent_to() -> None:
    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        post = await hook.send("Come in.", wait=True, thread=message.channel)
        await hook.edit_message(post.id, content="Come in, Lizzy.", thread=message.channel)

    demo = await heard(speak, in_thread=True)
    assert demo.said(demo.thread) == ["Papa?", "Come in, Lizzy."]
    assert demo.said() == []


async def test_a_persona_can_be_taken_out_of_a_thread() -> None:
    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        post = await hook.send("Come in.", wait=True, thread=message.channel)
        await hook.delete_message(post.id, thread=message.channel)

    demo = await heard(speak, in_thread=True)
    assert demo.said(demo.thread) == ["Papa?"]


async def test_a_thread_of_another_channel_is_not_found() -> None:
    refused: list[discord.NotFound] = []

    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        with pytest.raises(discord.NotFound) as caught:
            await hook.send("Come in.", wait=True, thread=discord.Object(message.id))
        refused.append(caught.value)

    demo = await heard(speak)
    assert refused[0].code == 10003
    assert demo.said() == ["Papa?"]


async def test_a_button_on_a_persona_s_post_can_be_pressed() -> None:
    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        await hook.send("Come in.", wait=True, view=Door(timeout=None))

    async with world(SmallBot(speak)) as demo:
        await demo.say("Papa?")
        post = list(demo.live.backend.messages[demo.demo.stage.id].values())[-1]
        async with demo.live.step:
            await demo.demo.player.member.click(ResponseMessage(demo.live, post), custom_id="knock")
        assert demo.said() == ["Papa?", "Come in.", "Who is there?"]


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

    demo = await heard(speak)
    assert demo.said() == ["Papa?", "Look."]
    assert kept == [["Look.", "1", "1"], ["Look.", "0", "0"]]


async def test_a_webhook_s_picture_is_the_face_of_what_it_posts() -> None:
    async def speak(message: discord.Message) -> None:
        await (await hook_of(message)).send("Come in.", wait=True)

    async with world(SmallBot(speak)) as demo:
        await demo.say("Papa?")
        post = list(demo.live.backend.messages[demo.demo.stage.id].values())[-1]
        author = demo.live.backend.users[post.author_id]
        assert author.avatar is not None
        urls = [f"https://cdn.simcord.invalid/avatars/{author.id}/{author.avatar}.png"]
        assert [demo.live.backend.cdn.get(url) for url in urls] == [FACE]


class Door(discord.ui.View):
    @discord.ui.button(label="Knock", custom_id="knock")
    async def knock(
        self, interaction: discord.Interaction, _button: discord.ui.Button[Door]
    ) -> None:
        await interaction.response.send_message("Who is there?")
