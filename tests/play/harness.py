"""A whole evening: Discord on loopback, the real bot on it, a game master and two players."""

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
    from tests.loopback import Channel, Guild, LoopbackDiscord, Message, Outcome, Person

ALLOWED = "manage_webhooks manage_roles"  # on top of what everyone may: what Aside asks for when it is invited


@dataclass
class Evening:
    """People in a server with a channel, and the bot that is online there while `online` lasts."""

    discord: LoopbackDiscord
    guild: Guild
    stage: Channel
    gm: Person
    lizzy: Person
    kitty: Person
    settings: Settings

    @asynccontextmanager
    async def online(self, engine: Engine) -> AsyncIterator[None]:
        """Have the bot online with this engine; leaving it shuts the bot down."""
        bot = create_bot(
            self.settings,
            engine=engine,
            connector=self.discord.connector(),
            guild_ready_timeout=0.1,
        )
        async with self.discord.running(bot):
            yield

    async def begin(self, stage: Channel | None = None) -> Outcome:
        """Have the game master start Pride and Prejudice."""
        return await self.gm.slash(
            stage or self.stage, "scene start", scenario="pride-and-prejudice"
        )

    async def answer(
        self, stage: Channel | None = None, *, count: int = 1, within: float = 10.0
    ) -> Message:
        """Wait for so many persona posts in a channel, all of them finished; return the last."""
        there = stage or self.stage
        await self.discord.until(
            lambda: len(finished(there)) >= count, within, f"{count} persona posts"
        )
        return personas(there)[-1]


def personas(stage: Channel) -> list[Message]:
    """The persona posts that stand in a channel."""
    return [message for message in stage.messages if message.webhook]


def finished(stage: Channel) -> list[Message]:
    """The persona posts that stand in a channel, once none of them is still being written."""
    posts = personas(stage)
    return [] if any(post.content.endswith(CURSOR) for post in posts) else posts


def an_evening(discord: LoopbackDiscord, folder: Path) -> Evening:
    """A server called Longbourn."""
    guild = discord.guild("Longbourn", bot_permissions=ALLOWED)
    stage = discord.text_channel(guild, "study")
    gm, lizzy, kitty = (discord.person(name, guild) for name in ("Fanny", "Lizzy", "Kitty"))
    settings = Settings(store=StoreSettings(path=folder / "aside.db"))
    return Evening(discord, guild, stage, gm, lizzy, kitty, settings)
