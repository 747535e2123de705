"""An evening: Discord on loopback, the real bot, a game master and two players."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.app import create_bot
from bot.posting.reply_draft import CURSOR
from bot.settings import Settings, StoreSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.engine.protocol import Engine
    from tests.loopback import Channel, DiscordMessage, Guild, LoopbackDiscord, Outcome, Person

ALLOWED = "manage_webhooks manage_roles"  # what Aside's invitation asks for


@dataclass
class Evening:
    """A server with people and a channel. The bot is online inside `online`."""

    discord: LoopbackDiscord
    guild: Guild
    stage: Channel
    gm: Person
    lizzy: Person
    kitty: Person
    settings: Settings

    @asynccontextmanager
    async def online(self, engine: Engine) -> AsyncIterator[None]:
        """Run the bot with this engine until the context ends."""
        bot = create_bot(
            self.settings,
            engine=engine,
            connector=self.discord.connector(),
            guild_ready_timeout=0.1,
        )
        async with self.discord.running(bot):
            yield

    async def begin(self, stage: Channel | None = None) -> Outcome:
        """Let the game master start Pride and Prejudice."""
        return await self.gm.slash(
            stage or self.stage, "scene start", scenario="pride-and-prejudice"
        )

    async def answer(
        self, stage: Channel | None = None, *, count: int = 1, within: float = 10.0
    ) -> DiscordMessage:
        """Wait for `count` finished persona posts in a channel and return the last one."""
        channel = stage or self.stage
        await self.discord.until(
            lambda: len(finished(channel)) >= count, within, f"{count} persona posts"
        )
        return personas(channel)[-1]


def personas(stage: Channel) -> list[DiscordMessage]:
    """Return the persona posts in a channel."""
    return [message for message in stage.messages if message.webhook]


def finished(stage: Channel) -> list[DiscordMessage]:
    """Return the persona posts in a channel, or an empty list while one is being written."""
    posts = personas(stage)
    return [] if any(post.content.endswith(CURSOR) for post in posts) else posts


def an_evening(discord: LoopbackDiscord, folder: Path) -> Evening:
    """Return an evening on a server called Longbourn."""
    guild = discord.guild("Longbourn", bot_permissions=ALLOWED)
    stage = discord.text_channel(guild, "study")
    gm, lizzy, kitty = (discord.person(name, guild) for name in ("Fanny", "Lizzy", "Kitty"))
    settings = Settings(store=StoreSettings(path=folder / "aside.db"))
    return Evening(discord, guild, stage, gm, lizzy, kitty, settings)
