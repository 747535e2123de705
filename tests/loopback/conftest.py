"""Fixtures of the loopback's own tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from .server import LoopbackDiscord
from .stage_bot import StageBot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from .actors import Person
    from .entities import Channel, Guild


@dataclass(frozen=True, slots=True)
class Play:
    """A server with one channel and one person, and a bot that is ready."""

    discord: LoopbackDiscord
    guild: Guild
    stage: Channel
    lizzy: Person
    bot: StageBot


@pytest.fixture
async def loopback() -> AsyncIterator[LoopbackDiscord]:
    """The fixture of `fixtures.py`, which also checks the loopback's own answers."""
    async with LoopbackDiscord() as discord:
        discord.rest.checks_answers = True
        yield discord
    assert not discord.violations, discord.violations
    assert not discord.rest.deviations, "\n".join(discord.rest.deviations)


@pytest.fixture
async def play(loopback: LoopbackDiscord) -> AsyncIterator[Play]:
    guild = loopback.guild("Longbourn")
    stage = loopback.text_channel(guild, "drawing-room")
    lizzy = loopback.person("Elizabeth", guild)
    bot = StageBot(loopback.connector())
    async with loopback.running(bot):
        yield Play(loopback, guild, stage, lizzy, bot)
