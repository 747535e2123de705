"""A bot in another process reaches the loopback through its proxy."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import aiohttp
import pytest

if TYPE_CHECKING:
    from .server import LoopbackDiscord


async def test_a_bot_in_another_process_plays(loopback: LoopbackDiscord) -> None:
    guild = loopback.guild()
    stage = loopback.text_channel(guild, "stage")
    lizzy = loopback.person("Lizzy", guild)
    program = [sys.executable, "-m", "tests.loopback.processes_bot"]
    process = await asyncio.create_subprocess_exec(
        *program, env=os.environ | loopback.environment()
    )
    await loopback.until(lambda: loopback.gateway.identified, 20)
    lizzy.say(stage, "Is anybody there?")
    await loopback.until(lambda: stage.messages[1:], 20)
    assert await process.wait() == 0
    assert (stage.messages[1].name, stage.messages[1].content) == ("Nymph", "Is anybody there?")


async def test_the_proxy_connects_only_to_discord(loopback: LoopbackDiscord) -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientHttpProxyError):
            await session.get("https://example.com/", proxy=loopback.proxy_url)
    assert loopback.hosts_refused == ["example.com:443"]


async def test_a_bot_in_this_process_reaches_no_other_host(loopback: LoopbackDiscord) -> None:
    async with aiohttp.ClientSession(connector=loopback.connector()) as session:
        with pytest.raises(aiohttp.ClientConnectorError):
            await session.get("https://example.com/")
        answer = await session.get("https://cdn.discordapp.com/avatars/1/a.png")
        assert answer.content_type == "image/png"
