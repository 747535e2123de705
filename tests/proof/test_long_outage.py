"""Discord is down for five minutes. The missed replies then arrive once and in order."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.loopback import LoopbackDiscord
from tests.play.harness import an_evening
from tests.proof.program import answer_to, answers, assert_nothing_private, thoughts
from tests.proof.virtual_time import SkippableLoop

if TYPE_CHECKING:
    from pathlib import Path

    from bot.engine.protocol import Request
    from tests.play.harness import Evening

LONGEST_PAUSE = 1200  # seconds that discord.py may pause between two attempts to reconnect


def test_replies_arrive_after_an_outage_of_five_minutes(tmp_path: Path) -> None:
    with asyncio.Runner(loop_factory=SkippableLoop) as runner:
        runner.run(five_minutes(tmp_path))


async def five_minutes(folder: Path) -> None:
    async with LoopbackDiscord() as discord:
        evening = an_evening(discord, folder)
        engine = ScriptedEngine([reply_slowly])
        await engine.start()
        async with evening.online(engine):
            await without_discord(evening, engine)
        assert_nothing_private(evening)
        assert not discord.violations, discord.violations


def reply_slowly(request: Request) -> Scripted:
    return Scripted(answer_to(request.prompt.text), pause=0.005)


async def without_discord(evening: Evening, engine: ScriptedEngine) -> None:
    loop = asyncio.get_running_loop()
    discord = evening.discord
    assert isinstance(loop, SkippableLoop)
    hall, attic = (discord.text_channel(evening.guild, name) for name in ("hall", "attic"))
    for stage in (evening.stage, hall, attic):
        await evening.begin(stage)
    evening.lizzy.say(evening.stage, "@Mr Bennet Question 1?")
    evening.lizzy.say(hall, "@Mr Bennet Question 2?")
    await discord.until(lambda: answers(evening.stage) or answers(hall))
    await discord.go_down()
    discord.gateway.forget()
    await loop.skip(150)
    evening.lizzy.say(evening.stage, "@Mr Bennet Question 3?")
    evening.kitty.say(attic, "@Mr Bennet Question 4?")
    await loop.skip(150)
    assert engine.running == 0
    requests = len(discord.requests)
    discord.come_back()
    for _ in range(LONGEST_PAUSE // 5):
        await loop.skip(5)
        if len(thoughts(evening)) == 4:
            break
    await discord.quiet(0.3)
    assert len(discord.requests) > requests
    assert [answers(stage) for stage in (evening.stage, hall, attic)] == [[1, 3], [2], [4]]
    assert sorted(thoughts(evening)) == [1, 2, 3, 4]
    assert len(engine.requests) == 4
