"""The health file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.app import Aside, create_bot
from bot.cli.run.health import is_healthy, maintain_health_file
from bot.errors import EngineDied
from tests.engine.scripted_engine import ScriptedEngine

if TYPE_CHECKING:
    from pathlib import Path

    from bot.her.prompt import Prompt
    from tests.play.harness import Evening


class Moody(ScriptedEngine):
    """Counts tokens only while it is alive."""

    alive = True

    async def count(self, prompt: Prompt) -> int:
        if not self.alive:
            raise EngineDied("It is being started again; ask again in a moment.")
        return await super().count(prompt)


async def test_the_health_file_is_fresh_while_discord_and_the_engine_answer(
    evening: Evening, tmp_path: Path
) -> None:
    discord = evening.discord
    engine = Moody([""])
    file = tmp_path / "well"
    await engine.start()
    bot = create_bot(
        evening.settings, engine=engine, connector=discord.connector(), guild_ready_timeout=0.1
    )
    assert isinstance(bot, Aside)
    async with maintain_health_file(bot, file):
        assert not await is_healthy(bot)
        async with discord.running(bot):
            await discord.until(lambda: bot.latency < 100, 20)
            assert await is_healthy(bot)
            engine.alive = False
            assert not await is_healthy(bot)
            engine.alive = True
            async with maintain_health_file(bot, tmp_path / "again"):
                await discord.until((tmp_path / "again").exists, 10)
        assert not await is_healthy(bot)
    await asyncio.sleep(0)
    assert not file.exists()
    assert not (tmp_path / "again").exists()
