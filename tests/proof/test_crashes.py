"""Killed during a turn and restarted, the program loses and doubles nothing."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from bot.posting.reply_draft import CURSOR
from tests.play.harness import personas
from tests.proof.hostile_replies import SEED
from tests.proof.program import (
    PATIENCE,
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

    from tests.loopback import Channel
    from tests.play.harness import Evening

KILLS = int(os.environ.get("PROOF_KILLS", "20"))  # turns in progress when the program is killed
STAGES = 4
GRACE = 10.0  # seconds until the program must have ended: Docker's default
pytestmark = [
    pytest.mark.timeout(120 + 5 * KILLS),
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]

DEATHS = ("execute_webhook", "edit_webhook_message", "recovering", "create_message", "any time")
"""The moments of the kills, in turn.

A route: while Discord handles that request, so that the program never gets the answer.
"recovering": while the restarted program finishes its replies. "any time": at random.
"""


def stages_of(evening: Evening, count: int) -> list[Channel]:
    rooms = [
        evening.discord.text_channel(evening.guild, f"room-{number}") for number in range(1, count)
    ]
    return [evening.stage, *rooms]


async def test_twenty_kills_during_turns_lose_and_double_nothing(
    evening: Evening, tmp_path: Path
) -> None:
    """Each kill interrupts four replies, each at another point."""
    discord = evening.discord
    chance = random.Random(SEED)
    stages = stages_of(evening, STAGES)
    asked: list[list[int]] = [[] for _ in stages]
    async with serve_answers(tmp_path, evening) as server:
        for death in range(-(-KILLS // STAGES)):
            how = DEATHS[death % len(DEATHS)]
            before = len(server.requests)
            async with (online if death == 0 else started)(tmp_path, evening) as process:
                if death == 0:
                    for stage in stages:
                        await evening.begin(stage)
                if how != "recovering":
                    await wait_for_all_answers(evening, stages, asked)
                killing = asyncio.create_task(kill(evening, process, how, chance))
                if how != "recovering":
                    await ask(evening, stages, asked, death, chance)
                await killing
                assert len(server.requests) <= before + 2 * STAGES
        async with started(tmp_path, evening):
            await wait_for_all_answers(evening, stages, asked)
            await discord.until(lambda: len(thoughts(evening)) >= sum(map(len, asked)), PATIENCE)
            await discord.quiet(0.5, PATIENCE)
    assert [answers(stage) for stage in stages] == asked
    assert not any(post.content.endswith(CURSOR) for stage in stages for post in personas(stage))
    assert sorted(thoughts(evening)) == sorted(number for numbers in asked for number in numbers)
    assert_nothing_private(evening)


async def ask(
    evening: Evening,
    stages: list[Channel],
    asked: list[list[int]],
    death: int,
    chance: random.Random,
) -> None:
    for place, stage in enumerate(stages):
        number = 10 * death + place
        evening.lizzy.say(stage, f"@Mr Bennet Question {number}?")
        asked[place].append(number)
        await asyncio.sleep(chance.uniform(0, 0.3))


async def wait_for_all_answers(
    evening: Evening, stages: list[Channel], asked: list[list[int]]
) -> None:
    for stage, numbers in zip(stages, asked, strict=True):
        for number in numbers[-1:]:
            await wait_for_answer(evening, number, stage)


async def kill(
    evening: Evening, process: asyncio.subprocess.Process, how: str, chance: random.Random
) -> None:
    faults = evening.discord.faults
    if how in ("recovering", "any time"):
        await asyncio.sleep(chance.uniform(0, 1.5))
        process.kill()
    else:
        for _ in range(chance.randrange(3)):
            faults.slow(how, 0.0)
        faults.meanwhile(how, process.kill)
    await asyncio.wait_for(process.wait(), PATIENCE)
    faults.forget()


async def test_ten_unfinished_replies_arrive_after_a_restart(
    evening: Evening, tmp_path: Path
) -> None:
    discord = evening.discord
    stages = stages_of(evening, 10)
    async with serve_answers(tmp_path, evening) as server:
        async with online(tmp_path, evening) as process:
            for stage in stages:
                await evening.begin(stage)
            for number, stage in enumerate(stages):
                evening.lizzy.say(stage, f"@Mr Bennet Question {number}?")
            await discord.until(
                lambda: len(server.requests) == len(stages) and personas(stages[0]), PATIENCE
            )
            process.send_signal(signal.SIGTERM)
            output, _ = await asyncio.wait_for(process.communicate(), GRACE)
            assert process.returncode == 0
            assert b"Traceback" not in output
        async with started(tmp_path, evening):
            for number, stage in enumerate(stages):
                await wait_for_answer(evening, number, stage)
            await discord.until(lambda: len(thoughts(evening)) >= len(stages), PATIENCE)
            await discord.quiet(0.5, PATIENCE)
    assert [answers(stage) for stage in stages] == [[number] for number in range(len(stages))]
    assert sorted(thoughts(evening)) == list(range(len(stages)))
    assert_nothing_private(evening)
