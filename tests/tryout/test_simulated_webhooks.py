"""Webhooks work as on Discord: they post in threads, have buttons and have avatars."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import discord
import pytest
from simcord.results import ResponseMessage

from bot.tryout import avatars
from tests.tryout.conftest import Simulation, SmallBot, simulate

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
) -> Simulation:
    """Return the simulation after a person sent a message to a bot that runs `act`."""
    async with simulate(SmallBot(act)) as sim:
        await sim.say("Papa?", place=sim.thread if in_thread else None)
        return sim


async def test_a_persona_posts_in_its_thread() -> None:
    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        post = await hook.send("Come in.", wait=True, thread=message.channel)
        await hook.edit_message(post.id, content="Come in, Lizzy.", thread=message.channel)

    sim = await heard(speak, in_thread=True)
    assert sim.said(sim.thread) == ["Papa?", "Come in, Lizzy."]
    assert sim.said() == []


async def test_a_persona_post_in_a_thread_can_be_deleted() -> None:
    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        post = await hook.send("Come in.", wait=True, thread=message.channel)
        await hook.delete_message(post.id, thread=message.channel)

    sim = await heard(speak, in_thread=True)
    assert sim.said(sim.thread) == ["Papa?"]


async def test_a_thread_of_another_channel_is_not_found() -> None:
    refused: list[discord.NotFound] = []

    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        with pytest.raises(discord.NotFound) as caught:
            await hook.send("Come in.", wait=True, thread=discord.Object(message.id))
        refused.append(caught.value)

    sim = await heard(speak)
    assert refused[0].code == 10003
    assert sim.said() == ["Papa?"]


async def test_a_button_on_a_persona_post_can_be_pressed() -> None:
    async def speak(message: discord.Message) -> None:
        hook = await hook_of(message)
        await hook.send("Come in.", wait=True, view=Door(timeout=None))

    async with simulate(SmallBot(speak)) as sim:
        await sim.say("Papa?")
        post = list(sim.live.backend.messages[sim.demo.stage.id].values())[-1]
        async with sim.live.step:
            await sim.demo.player.member.click(ResponseMessage(sim.live, post), custom_id="knock")
        assert sim.said() == ["Papa?", "Come in.", "Who is there?"]


async def test_buttons_can_accompany_files_and_be_removed() -> None:
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

    sim = await heard(speak)
    assert sim.said() == ["Papa?", "Look."]
    assert kept == [["Look.", "1", "1"], ["Look.", "0", "0"]]


async def test_a_webhooks_avatar_is_shown_on_its_posts() -> None:
    async def speak(message: discord.Message) -> None:
        await (await hook_of(message)).send("Come in.", wait=True)

    async with simulate(SmallBot(speak)) as sim:
        await sim.say("Papa?")
        post = list(sim.live.backend.messages[sim.demo.stage.id].values())[-1]
        author = sim.live.backend.users[post.author_id]
        assert author.avatar is not None
        urls = [f"https://cdn.simcord.invalid/avatars/{author.id}/{author.avatar}.png"]
        assert [sim.live.backend.cdn.get(url) for url in urls] == [FACE]


class Door(discord.ui.View):
    @discord.ui.button(label="Knock", custom_id="knock")
    async def knock(
        self, interaction: discord.Interaction, _button: discord.ui.Button[Door]
    ) -> None:
        await interaction.response.send_message("Who is there?")
