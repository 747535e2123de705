"""The fixture `loopback`. Import it in a `conftest.py` to give each test its own Discord."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .server import LoopbackDiscord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def loopback() -> AsyncIterator[LoopbackDiscord]:
    """A Discord that fails the test if the bot sent a request that no correct client sends."""
    async with LoopbackDiscord() as discord:
        yield discord
    assert not discord.violations, discord.violations
    assert not discord.hosts_refused, discord.hosts_refused
