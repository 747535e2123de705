"""Wrong and changing clocks. A story follows its order, not the time.

Only the difference between the bot's clock and Discord's matters, so these tests move Discord's.
"""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
from typing import TYPE_CHECKING

import pytest

from tests.engine.scripted_engine import ScriptedEngine
from tests.loopback import LoopbackDiscord
from tests.play.harness import an_evening, personas
from tests.proof.program import (
    PATIENCE,
    answer_to,
    answers,
    assert_nothing_private,
    online,
    serve_answers,
    started,
    thoughts,
    wait_for_answer,
)

if TYPE_CHECKING:
    from pathlib import Path

    from bot.engine.protocol import Request
    from tests.loopback import DiscordMessage
    from tests.play.harness import Evening

HOUR = 3600.0


async def ready() -> ScriptedEngine:
    def echo(request: Request) -> str:
        return answer_to(request.prompt.text)

    engine = ScriptedEngine([echo])
    await engine.start()
    return engine


async def asks(evening: Evening, number: int) -> None:
    """Ask, and wait for the answer and for the game master's message with the thoughts."""
    evening.lizzy.say(evening.stage, f"@Mr Bennet Question {number}?")
    await wait_for_answer(evening, number)
    await evening.discord.until(lambda: number in thoughts(evening))


async def test_a_clock_changes_forwards_and_backwards_during_a_scene(tmp_path: Path) -> None:
    """The bot is two hours ahead of Discord, then one hour behind, then six."""
    async with LoopbackDiscord(ahead=-2 * HOUR) as discord:
        evening = an_evening(discord, tmp_path)
        engine = await ready()
        async with evening.online(engine):
            await evening.begin()
            await asks(evening, 1)
            discord.faults.fail("execute_webhook", 502, after_work=True)
            await asks(evening, 2)
            discord.clock.advance(3 * HOUR)
            await asks(evening, 3)
            discord.faults.fail("execute_webhook", 502, after_work=True)
            await asks(evening, 4)
            discord.clock.advance(5 * HOUR)
            await discord.gateway.close()
            await asks(evening, 5)
            await discord.quiet(0.3)
        assert answers(evening.stage) == [1, 2, 3, 4, 5]
        assert thoughts(evening) == [1, 2, 3, 4, 5]
        assert_nothing_private(evening)
        assert not discord.violations, discord.violations


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
async def test_a_restart_with_another_clock_doubles_no_reply(
    tmp_path: Path,
) -> None:
    """The bot is three hours ahead when it dies, and two when it restarts.

    Machines whose clock is set by the network after the start do that.
    """
    async with LoopbackDiscord(ahead=-2 * HOUR) as discord:
        evening = an_evening(discord, tmp_path)
        async with serve_answers(tmp_path, evening):
            async with online(tmp_path, evening) as process:
                await evening.begin()
                discord.faults.meanwhile("execute_webhook", process.kill)
                evening.lizzy.say(evening.stage, "@Mr Bennet Question 1?")
                await process.wait()
            assert len(personas(evening.stage)) == 1
            shift(tmp_path / "aside.db", "created_at", 1)
            async with started(tmp_path, evening) as process:
                await wait_for_answer(evening, 1)
                await discord.until(lambda: thoughts(evening), PATIENCE)
                await discord.quiet(0.3)
                process.send_signal(signal.SIGTERM)
                await process.wait()
        assert answers(evening.stage) == [1]
        assert thoughts(evening) == [1]
        assert not discord.violations, discord.violations


async def test_unhide_brings_back_the_turn_that_was_hidden_last_whatever_the_clock_says(
    evening: Evening,
) -> None:
    """Two replies are hidden. Between them, the clock is set back."""
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        for number in (1, 2):
            await asks(evening, number)
        first, second = personas(evening.stage)
        await hide(evening, first)
        await asyncio.to_thread(shift, evening.settings.store.path, "undone_at", 1)
        await hide(evening, second)
        await evening.gm.slash(evening.stage, "scene unhide")
        history = await evening.gm.slash(evening.stage, "scene history")
        assert "Answer 2" in history.text
        assert "Answer 1" not in history.text


def shift(path: Path, column: str, hours: int) -> None:
    """Change the times at which turns were stored."""
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE turns SET {column} = {column} + ?", (hours * 3_600_000_000,))
    database.close()


async def hide(evening: Evening, post: DiscordMessage) -> None:
    menu = await evening.gm.context_menu(post, "More…")
    await evening.gm.press(menu.message, "Hide")
