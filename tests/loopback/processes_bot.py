"""A bot as a program of its own, for `test_processes.py`. It answers one message and ends."""

from __future__ import annotations

import os

import discord


class Echo(discord.Client):
    """Repeats what it hears once, under a persona's name."""

    async def on_message(self, message: discord.Message, /) -> None:
        if message.author.bot or not isinstance(message.channel, discord.TextChannel):
            return
        webhook = await message.channel.create_webhook(name="Echo")
        await webhook.send(message.content, username="Nymph", wait=True)
        await self.close()


Echo(
    intents=discord.Intents.all(),
    proxy=os.environ["LOOPBACK_DISCORD_PROXY"],
    guild_ready_timeout=0.02,
).run(os.environ["LOOPBACK_DISCORD_TOKEN"], log_handler=None)
