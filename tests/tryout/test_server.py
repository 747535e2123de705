"""The simulated Discord runs in real time and never waits for a bot that is generating."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

from tests.tryout.conftest import SmallBot, simulate
from tests.wait_until import until

if TYPE_CHECKING:
    import discord
    import pytest


async def test_messages_have_the_current_time() -> None:
    async with simulate(SmallBot()) as sim:
        before = datetime.now(UTC)
        await sim.say("Good evening.")
        (message,) = sim.live.backend.messages[sim.demo.stage.id].values()
        assert before <= datetime.fromisoformat(message.timestamp) <= datetime.now(UTC)


async def test_the_bots_clock_runs() -> None:
    took: list[float] = []

    async def hear(_message: discord.Message) -> None:
        began = monotonic_of_the_bot()
        await asyncio.sleep(0.2)
        took.append(monotonic_of_the_bot() - began)

    def monotonic_of_the_bot() -> float:
        return asyncio.get_running_loop().time()

    async with simulate(SmallBot(hear)) as sim:
        await sim.say("Wait a moment.")
        await until(lambda: bool(took))
        assert 0.15 < took[0] < 2.0


async def test_a_step_does_not_wait_for_a_sleeping_bot() -> None:
    async def hear(message: discord.Message) -> None:
        await asyncio.sleep(1.0)
        await message.channel.send("At last.")

    async with simulate(SmallBot(hear)) as sim:
        began = perf_counter()
        await sim.say("Hello?")
        assert perf_counter() - began < 0.8
        assert sim.said() == ["Hello?"]
        await until(lambda: "At last." in sim.said())


async def test_a_step_does_not_wait_for_an_event_that_never_comes() -> None:
    async def hear(message: discord.Message) -> None:
        await message.channel.send("I wait.")
        await asyncio.Event().wait()

    async with simulate(SmallBot(hear)) as sim:
        began = perf_counter()
        for text in ("Hello?", "Still there?"):
            await sim.say(text)
        assert perf_counter() - began < 2.0
        assert sim.said() == ["Hello?", "I wait.", "Still there?", "I wait."]


async def test_two_simultaneous_messages_are_both_heard() -> None:
    heard: list[str] = []

    async def hear(message: discord.Message) -> None:
        await asyncio.sleep(0)
        heard.append(message.content)

    async with simulate(SmallBot(hear)) as sim:
        await asyncio.gather(sim.say("I first!"), sim.say("No, I!", key="ben"))
        assert heard == ["I first!", "No, I!"]


async def test_an_error_in_the_bot_is_logged_and_the_bot_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def hear(_message: discord.Message) -> None:
        raise RuntimeError("a slip")

    async with simulate(SmallBot(hear)) as sim:
        with caplog.at_level(logging.ERROR):
            await sim.say("Hello?")
            await sim.say("Still there?")
        assert sim.said() == ["Hello?", "Still there?"]
        assert "a slip" in caplog.text
