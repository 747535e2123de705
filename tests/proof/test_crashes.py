"""Killed at any point of a turn and started again, the program ends with the story complete and nothing doubled."""

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

    from tests.loopback import Channel
    from tests.play.harness import Evening

KILLS = int(
    os.environ.get("PROOF_KILLS", "20")
)  # turns that are under way when the program is killed
STAGES = 4
GRACE = 10.0  # seconds that whoever ends the program gives it: what Docker does where nobody says otherwise
pytestmark = [
    pytest.mark.timeout(120 + 5 * KILLS),
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]

DEATHS = ("execute_webhook", "edit_webhook_message", "taking up", "create_message", "any time")
"""When the program dies, in turn: while Discord does what it has just asked for, so that it never learns that it did;
while it takes up after a death what it owes; at any time."""


def stages_of(evening: Evening, count: int) -> list[Channel]:
    rooms = [
        evening.discord.text_channel(evening.guild, f"room-{number}") for number in range(1, count)
    ]
    return [evening.stage, *rooms]


async def test_killed_at_twenty_points_of_a_turn_it_loses_and_doubles_nothing(
    evening: Evening, tmp_path: Path
) -> None:
    """Whenever it dies, four replies are under way, each at another point."""
    discord, chance, stages = evening.discord, random.Random(SEED), stages_of(evening, STAGES)
    asked: list[list[int]] = [[] for _ in stages]
    async with answering(tmp_path, evening) as server:
        for death in range(-(-KILLS // STAGES)):
            how, before = DEATHS[death % len(DEATHS)], len(server.requests)
            async with (online if death == 0 else started)(tmp_path, evening) as process:
                if death == 0:
                    for stage in stages:
                        await evening.begin(stage)
                if how != "taking up":
                    await all_told(evening, stages, asked)
                dies = asyncio.create_task(die(evening, process, how, chance))
                if how != "taking up":
                    await ask(evening, stages, asked, death, chance)
                await dies
                assert len(server.requests) <= before + 2 * STAGES
        async with started(tmp_path, evening):
            await all_told(evening, stages, asked)
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


async def all_told(evening: Evening, stages: list[Channel], asked: list[list[int]]) -> None:
    for stage, numbers in zip(stages, asked, strict=True):
        for number in numbers[-1:]:
            await answered(evening, number, stage)


async def die(
    evening: Evening, process: asyncio.subprocess.Process, how: str, chance: random.Random
) -> None:
    faults = evening.discord.faults
    if how in ("taking up", "any time"):
        await asyncio.sleep(chance.uniform(0, 1.5))
        process.kill()
    else:
        for _ in range(chance.randrange(3)):
            faults.slow(how, 0.0)
        faults.meanwhile(how, process.kill)
    await asyncio.wait_for(process.wait(), PATIENCE)
    faults.forget()


async def test_asked_to_end_in_the_middle_of_ten_replies_it_gives_them_after_the_restart(
    evening: Evening, tmp_path: Path
) -> None:
    discord, stages = evening.discord, stages_of(evening, 10)
    async with answering(tmp_path, evening) as server:
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
                await answered(evening, number, stage)
            await discord.until(lambda: len(thoughts(evening)) >= len(stages), PATIENCE)
            await discord.quiet(0.5, PATIENCE)
    assert [answers(stage) for stage in stages] == [[number] for number in range(len(stages))]
    assert sorted(thoughts(evening)) == list(range(len(stages)))
    assert_nothing_private(evening)
