"""The program runs out of memory. No line is lost and no reply is doubled."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.play.harness import personas
from tests.proof.program import (
    PATIENCE,
    answers,
    assert_nothing_private,
    online,
    serve_answers,
    started,
    wait_for_answer,
)

if sys.platform != "linux":
    pytest.skip("only Linux limits another program's memory", allow_module_level=True)

import resource  # Windows lacks it

if TYPE_CHECKING:
    from tests.play.harness import Evening

LONG = "word " * 390
QUESTIONS = 8


def limit_memory(process: asyncio.subprocess.Process) -> None:
    """Limit the program's memory to its present size."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[0])
    resource.prlimit(
        process.pid, resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY)
    )


async def test_running_out_of_memory_loses_and_doubles_nothing(
    evening: Evening, tmp_path: Path
) -> None:
    discord, stage = evening.discord, evening.stage
    async with serve_answers(tmp_path, evening) as server:
        async with online(tmp_path, evening) as process:
            await evening.begin()
            for _ in range(20):
                evening.kitty.say(stage, LONG)
            evening.lizzy.say(stage, "@Mr Bennet Question 0?")
            await wait_for_answer(evening, 0)
            limit_memory(process)
            asked = await speak_until_it_ends(evening, process)
            if process.returncode is None:
                process.kill()
            output, _ = await process.communicate()
            assert b"memory" in output.lower(), output[-2000:]
        async with started(tmp_path, evening):
            await wait_for_answer(evening, asked)
            await discord.quiet(0.5, PATIENCE)
    prompt = server.requests[-1]["prompt"]
    assert [prompt.count(f"Question {number}?") for number in range(asked + 1)] == [1] * (asked + 1)
    given = answers(stage)
    assert given == sorted(set(given))
    assert given[0] == 0
    assert len(personas(stage)) == len(given)
    assert_nothing_private(evening)
    for private in (b"Question", b"Answer", b"SECRET", LONG.encode()):
        assert private not in output


async def speak_until_it_ends(evening: Evening, process: asyncio.subprocess.Process) -> int:
    """Speak until the program ends or all questions are asked.

    Return the last question's number.
    """
    for number in range(1, QUESTIONS + 1):
        for _ in range(4):
            evening.kitty.say(evening.stage, LONG)
        evening.lizzy.say(evening.stage, f"@Mr Bennet Question {number}?")
        await asyncio.sleep(0.5)
        if process.returncode is not None:
            return number
    return QUESTIONS
