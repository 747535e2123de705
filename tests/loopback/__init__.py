"""A Discord on loopback, to test bots made with discord.py over real HTTP, WebSocket and TLS.

    async with LoopbackDiscord() as discord:
        guild = discord.guild("Longbourn", bot_permissions="manage_webhooks")
        stage = discord.text_channel(guild, "drawing-room")
        lizzy = discord.person("Elizabeth", guild, permissions="manage_guild")
        bot = MyBot(connector=discord.connector(), guild_ready_timeout=0.1)
        async with discord.running(bot):
            outcome = await lizzy.slash(stage, "scene start", scenario="emma")
            assert outcome.ephemeral and "begins" in outcome.text
            lizzy.say(stage, "Good evening!")
            reply = await discord.until(lambda: [m for m in stage.messages if m.webhook])
            await lizzy.press(reply[0], "Try again")
        assert discord.violations == []  # the fixture in `fixtures.py` does this for you

A bot in another process needs `discord.environment()` and discord.py's `proxy=discord.proxy_url`.
Faults: `discord.faults.fail("execute_webhook", after_work=True)`, `await discord.gateway.close()`
and others. Time: `discord.clock.advance(15 * 60)`. Secrets: `lizzy.ever_saw()` has every text in
every state that she could have read. `README.md` lists the files, and describes how to add a route,
a rule or a fault.
"""

from .actors import Person
from .conversation import DiscordMessage
from .entities import Channel, DiscordRole, Guild, Privileged
from .outcome import Choice, Outcome
from .picker import NotOffered
from .proxy_bot import ProxyBot
from .server import EVERY_INTENT, LoopbackDiscord

__all__ = [
    "EVERY_INTENT",
    "Channel",
    "Choice",
    "DiscordMessage",
    "DiscordRole",
    "Guild",
    "LoopbackDiscord",
    "NotOffered",
    "Outcome",
    "Person",
    "Privileged",
    "ProxyBot",
]
