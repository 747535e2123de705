"""`from tests.loopback.fixtures import loopback` in a conftest.py gives every test there a Discord of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .server import LoopbackDiscord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def loopback() -> AsyncIterator[LoopbackDiscord]:
    """A Discord that fails the test if the bot ever sent it what no correct client sends."""
    async with LoopbackDiscord() as discord:
        yield discord
    assert not discord.violations, discord.violations
    assert not discord.hosts_refused, discord.hosts_refused
