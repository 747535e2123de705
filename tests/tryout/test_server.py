"""The simulated Discord is one to play on: time passes, nobody waits for a bot that thinks, and two may act at once."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

from tests.tryout.conftest import SmallBot, world
from tests.wait_until import until

if TYPE_CHECKING:
    import discord
    import pytest


async def test_messages_are_dated_by_the_time_of_day() -> None:
    async with world(SmallBot()) as demo:
        before = datetime.now(UTC)
        await demo.say("Good evening.")
        (message,) = demo.live.backend.messages[demo.demo.stage.id].values()
        assert before <= datetime.fromisoformat(message.timestamp) <= datetime.now(UTC)


async def test_what_the_bot_times_takes_time() -> None:
    took: list[float] = []

    async def hear(_message: discord.Message) -> None:
        began = monotonic_of_the_bot()
        await asyncio.sleep(0.2)
        took.append(monotonic_of_the_bot() - began)

    def monotonic_of_the_bot() -> float:
        return asyncio.get_running_loop().time()

    async with world(SmallBot(hear)) as demo:
        await demo.say("Wait a moment.")
        await until(lambda: bool(took))
        assert 0.15 < took[0] < 2.0


async def test_a_step_is_over_while_the_bot_still_sleeps() -> None:
    async def hear(message: discord.Message) -> None:
        await asyncio.sleep(1.0)
        await message.channel.send("At last.")

    async with world(SmallBot(hear)) as demo:
        began = perf_counter()
        await demo.say("Hello?")
        assert perf_counter() - began < 0.8
        assert demo.said() == ["Hello?"]
        await until(lambda: "At last." in demo.said())


async def test_a_step_is_over_though_the_bot_waits_for_something_that_never_comes() -> None:
    async def hear(message: discord.Message) -> None:
        await message.channel.send("I wait.")
        await asyncio.Event().wait()

    async with world(SmallBot(hear)) as demo:
        began = perf_counter()
        for text in ("Hello?", "Still there?"):
            await demo.say(text)
        assert perf_counter() - began < 2.0
        assert demo.said() == ["Hello?", "I wait.", "Still there?", "I wait."]


async def test_two_people_who_speak_at_once_are_both_heard() -> None:
    heard: list[str] = []

    async def hear(message: discord.Message) -> None:
        await asyncio.sleep(0)
        heard.append(message.content)

    async with world(SmallBot(hear)) as demo:
        await asyncio.gather(demo.say("I first!"), demo.say("No, I!", key="ben"))
        assert heard == ["I first!", "No, I!"]


async def test_a_failure_of_the_bots_ends_nothing_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def hear(_message: discord.Message) -> None:
        raise RuntimeError("a slip")

    async with world(SmallBot(hear)) as demo:
        with caplog.at_level(logging.ERROR):
            await demo.say("Hello?")
            await demo.say("Still there?")
        assert demo.said() == ["Hello?", "Still there?"]
        assert "a slip" in caplog.text
