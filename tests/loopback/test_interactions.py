"""A person uses commands, buttons and forms; a real bot answers."""

from __future__ import annotations

from .server import LoopbackDiscord
from .stage_bot import StageBot


async def test_a_deferred_command_answers_in_private() -> None:
    async with LoopbackDiscord() as discord:
        guild = discord.guild("Longbourn")
        stage = discord.text_channel(guild, "drawing-room")
        lizzy = discord.person("Elizabeth", guild)
        async with discord.running(StageBot(discord.connector())):
            outcome = await lizzy.slash(stage, "scene start", scenario="emma", rounds=2)
            await discord.until(lambda: len(outcome.messages) == 2)
        assert [message.content for message in outcome.messages] == ["emma for 2", "and more"]
        assert outcome.ephemeral
        assert stage.messages == []
        assert discord.violations == []
