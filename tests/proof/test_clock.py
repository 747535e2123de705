"""Clocks that are wrong, and that somebody sets: a story goes by its order, not by what a clock says.

What counts is only how the bot's clock stands to Discord's, so it is Discord's that is moved here.
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
    answered,
    answering,
    answers,
    assert_nothing_private,
    online,
    started,
    thoughts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from bot.engine.protocol import Request
    from tests.loopback import Message
    from tests.play.harness import Evening

HOUR = 3600.0


async def ready() -> ScriptedEngine:
    def echo(request: Request) -> str:
        return answer_to(request.prompt.text)

    engine = ScriptedEngine([echo])
    await engine.start()
    return engine


async def asks(evening: Evening, number: int) -> None:
    """Ask, and wait for the answer and what the game master is written of it."""
    evening.lizzy.say(evening.stage, f"@Mr Bennet Question {number}?")
    await answered(evening, number)
    await evening.discord.until(lambda: number in thoughts(evening))


async def test_a_clock_that_is_set_back_and_forth_while_a_scene_is_played(tmp_path: Path) -> None:
    """The bot's clock is two hours ahead of Discord's, then an hour behind, then six hours behind."""
    async with LoopbackDiscord(ahead=-2 * HOUR) as discord:
        evening, engine = an_evening(discord, tmp_path), await ready()
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
async def test_killed_and_started_again_with_another_clock_it_doubles_nothing(
    tmp_path: Path,
) -> None:
    """Three hours ahead of Discord when it dies, two when it starts again: as on machines whose clock is only right
    once the network is there."""
    async with LoopbackDiscord(ahead=-2 * HOUR) as discord:
        evening = an_evening(discord, tmp_path)
        async with answering(tmp_path, evening):
            async with online(tmp_path, evening) as process:
                await evening.begin()
                discord.faults.meanwhile("execute_webhook", process.kill)
                evening.lizzy.say(evening.stage, "@Mr Bennet Question 1?")
                await process.wait()
            assert len(personas(evening.stage)) == 1
            shift(tmp_path / "aside.db", "created_at", 1)
            async with started(tmp_path, evening) as process:
                await answered(evening, 1)
                await discord.until(lambda: thoughts(evening), PATIENCE)
                await discord.quiet(0.3)
                process.send_signal(signal.SIGTERM)
                await process.wait()
        assert answers(evening.stage) == [1]
        assert thoughts(evening) == [1]
        assert not discord.violations, discord.violations


async def test_what_was_undone_last_comes_back_first_whatever_the_clock_says(
    evening: Evening,
) -> None:
    """Two replies are hidden, the later one by a clock that was set back between."""
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
    """Have the clock have said something else when turns were stored."""
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE turns SET {column} = {column} + ?", (hours * 3_600_000_000,))
    database.close()


async def hide(evening: Evening, post: Message) -> None:
    menu = await evening.gm.context_menu(post, "More…")
    await evening.gm.press(menu.message, "Hide")
