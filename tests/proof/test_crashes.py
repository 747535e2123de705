"""Killed at any point of a turn and started again, the program ends with the story complete and nothing doubled."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from bot.posting.drafts import MARK
from tests.play.house import personas
from tests.proof.corpus import SEED
from tests.proof.program import PATIENCE, answered, answering, answers, online

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play.house import Evening

KILLS = int(os.environ.get("PROOF_KILLS", "4"))
REQUESTS = ("execute_webhook", "edit_webhook_message", "create_message")
pytestmark = [
    pytest.mark.timeout(120 + 20 * KILLS),
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]


async def test_killed_at_many_points_of_a_turn_it_loses_and_doubles_nothing(evening: Evening, tmp_path: Path) -> None:
    """Every third time it dies while Discord does what it has just asked for, so that it never learns that it did."""
    discord, chance = evening.discord, random.Random(SEED)
    async with answering(tmp_path, evening) as server:
        for number in range(KILLS):
            async with online(tmp_path, evening) as process:
                if number == 0:
                    await evening.begin()
                else:
                    await answered(evening, number - 1)
                    await discord.quiet(0.2, PATIENCE)
                before = len(server.asked)
                if number < len(REQUESTS):
                    discord.faults.meanwhile(REQUESTS[number], process.kill)
                evening.lizzy.say(evening.stage, f"@Mr Bennet Question {number}?")
                if number >= len(REQUESTS):
                    await asyncio.sleep(chance.uniform(0, 1.2))
                    process.kill()
                await asyncio.wait_for(process.wait(), PATIENCE)
                assert len(server.asked) <= before + 1
        async with online(tmp_path, evening):
            await answered(evening, KILLS - 1)
            await discord.quiet(0.5, PATIENCE)
    assert answers(evening.stage) == list(range(KILLS))
    assert not any(post.content.endswith(MARK) for post in personas(evening.stage))
    for person in (evening.lizzy, evening.kitty):
        assert not re.search("SECRET|PLAN", person.ever_saw())
    told = re.findall(r"SECRET (\d+)", "\n".join(text for each in evening.gm.dms for text in each.now.texts()))
    assert [int(number) for number in told] == list(range(KILLS))


async def test_asked_to_end_in_the_middle_of_several_replies_it_gives_them_after_the_restart(
    evening: Evening, tmp_path: Path
) -> None:
    discord = evening.discord
    stages = [evening.stage, *(discord.text_channel(evening.guild, f"room-{number}") for number in range(3))]
    async with answering(tmp_path, evening) as server:
        async with online(tmp_path, evening) as process:
            for stage in stages:
                await evening.begin(stage)
            for number, stage in enumerate(stages):
                evening.lizzy.say(stage, f"@Mr Bennet Question {number}?")
            await discord.until(lambda: len(server.asked) == len(stages) and personas(stages[0]), PATIENCE)
            process.send_signal(signal.SIGTERM)
            output, _ = await asyncio.wait_for(process.communicate(), 10)
            assert process.returncode == 0
            assert b"Traceback" not in output
        async with online(tmp_path, evening):
            for number, stage in enumerate(stages):
                await answered(evening, number, stage)
            await discord.quiet(0.5, PATIENCE)
    assert [answers(stage) for stage in stages] == [[number] for number in range(len(stages))]
