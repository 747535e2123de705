"""A simulated Discord with a minimal bot, for tests of the layer between the two."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import discord
from discord.ext import commands

from bot.tryout.bridge.live_discord import LiveDiscord, log_in
from bot.tryout.demo_server import DemoServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Hear = Callable[[discord.Message], Awaitable[None]]


class SmallBot(commands.Bot):
    """Calls one function with every message of a person."""

    def __init__(self, hear: Hear | None = None, **options: Any) -> None:
        super().__init__(
            command_prefix=(),
            help_command=None,
            intents=discord.Intents(guilds=True, guild_messages=True, message_content=True),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            **options,
        )
        self.hear = hear

    async def on_message(self, message: discord.Message, /) -> None:
        if self.hear is not None and not message.author.bot:
            await self.hear(message)


class Simulation:
    """A simulated Discord with the demo server and a bot."""

    def __init__(self, live: LiveDiscord, demo: DemoServer, bot: commands.Bot) -> None:
        self.live = live
        self.demo = demo
        self.bot = bot

    async def say(self, text: str, *, key: str = "ada", place: int | None = None) -> None:
        """Send a message as a person, in the main channel or another place."""
        person = self.demo.person(key)
        channel, _ = self.demo.channel(person, place or self.demo.stage.id)
        async with self.live.step:
            await person.member.send(channel, text)

    def said(self, place: int | None = None) -> list[str]:
        """Return the messages in a place."""
        return [
            message.content
            for message in self.live.backend.messages[place or self.demo.stage.id].values()
        ]

    @property
    def thread(self) -> int:
        """Return the id of the main channel's thread."""
        return next(place.id for place in self.demo.places(self.demo.gm) if place.kind == "thread")


@asynccontextmanager
async def simulate(bot: commands.Bot) -> AsyncIterator[Simulation]:
    """Run this bot on a simulated Discord with the demo server."""
    live = LiveDiscord(bot)
    demo = DemoServer(live, "stage", "A stage")
    async with log_in(live):
        try:
            yield Simulation(live, demo, bot)
        finally:
            await bot.close()
