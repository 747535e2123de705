"""`aside run` in a process of its own, with Discord and a completions server on loopback."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.engine.completions_server import CompletionsServer
from tests.play.test_scene import BENNET

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.loopback import LoopbackDiscord
    from tests.play.harness import Evening

PROXIED = (
    "discord: {{proxy: '{proxy}'}}\nengine: {{kind: remote, base_url: '{url}', model: HER-32B}}\n"
)


def login(discord: LoopbackDiscord) -> dict[str, str]:
    """Return the environment of a configured bot."""
    return discord.environment() | {"DISCORD_TOKEN": discord.token}


@asynccontextmanager
async def running(
    folder: Path, environ: dict[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run `aside run` in `folder`. Kill it at the end if it still runs."""
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ASIDE_", "DISCORD_"))
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "run",
        cwd=folder,
        env=clean | environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_aside_run_plays_and_ends_on_a_signal(evening: Evening, tmp_path: Path) -> None:
    discord = evening.discord
    async with CompletionsServer([BENNET]) as server:
        (tmp_path / "aside.yaml").write_text(
            PROXIED.format(proxy=discord.proxy_url, url=server.url)
        )
        async with running(tmp_path, login(discord)) as process:
            await discord.until(lambda: discord.requests_to("sync_commands"), 30)
            await discord.until(lambda: discord.gateway.identified, 30)
            await asyncio.sleep(0.5)
            await evening.begin()
            evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
            assert (await evening.answer(within=20)).content == "*smiles* Well, well."
            process.send_signal(signal.SIGTERM)
            output, _ = await process.communicate()
        assert process.returncode == 0
        log = output.decode()
        assert "Traceback" not in log
        for private in ("SECRET", "PLAN", "MARMALADE", discord.token, "Well, well."):
            assert private not in log


async def test_a_missing_token_is_explained_in_one_sentence(tmp_path: Path) -> None:
    async with running(tmp_path, {}) as process:
        output, _ = await process.communicate()
    assert process.returncode == 2
    assert output.decode().count("\n") == 1
    assert "https://discord.com/developers/applications" in output.decode()


async def test_a_missing_message_content_intent_is_explained(
    evening: Evening, tmp_path: Path
) -> None:
    evening.discord.world.portal.clear()
    async with CompletionsServer([BENNET]) as server:
        (tmp_path / "aside.yaml").write_text(
            PROXIED.format(proxy=evening.discord.proxy_url, url=server.url)
        )
        async with running(tmp_path, login(evening.discord)) as process:
            output, _ = await process.communicate()
    assert process.returncode == 1
    assert "Message Content Intent" in output.decode()
    assert "Traceback" not in output.decode()
