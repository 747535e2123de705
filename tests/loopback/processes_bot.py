"""A bot as its own program, for `test_processes.py`: told by its environment where Discord is, it answers and ends."""

from __future__ import annotations

import os

import discord


class Echo(discord.Client):
    """Says once, under a persona's name, what it hears."""

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
