"""Memory runs out: whatever becomes of the program, nothing that was said is lost, and nothing is said twice."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.play.harness import personas
from tests.proof.program import (
    PATIENCE,
    answered,
    answering,
    answers,
    assert_nothing_private,
    online,
    started,
)

if sys.platform != "linux":
    pytest.skip("only Linux limits another program's memory", allow_module_level=True)

import resource  # there is none on Windows

if TYPE_CHECKING:
    from tests.play.harness import Evening

LONG = "word " * 390
QUESTIONS = 8


def hold(process: asyncio.subprocess.Process) -> None:
    """Let the program have no more memory than it has now."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[0])
    resource.prlimit(
        process.pid, resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY)
    )


async def test_at_its_limit_of_memory_it_loses_and_doubles_nothing(
    evening: Evening, tmp_path: Path
) -> None:
    discord, stage = evening.discord, evening.stage
    async with answering(tmp_path, evening) as server:
        async with online(tmp_path, evening) as process:
            await evening.begin()
            for _ in range(20):
                evening.kitty.say(stage, LONG)
            evening.lizzy.say(stage, "@Mr Bennet Question 0?")
            await answered(evening, 0)
            hold(process)
            asked = await pressed(evening, process)
            if process.returncode is None:
                process.kill()
            output, _ = await process.communicate()
            assert b"memory" in output.lower(), output[-2000:]
        async with started(tmp_path, evening):
            await answered(evening, asked)
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


async def pressed(evening: Evening, process: asyncio.subprocess.Process) -> int:
    """Have people go on talking until the program has had enough, or for long enough; return the last question."""
    for number in range(1, QUESTIONS + 1):
        for _ in range(4):
            evening.kitty.say(evening.stage, LONG)
        evening.lizzy.say(evening.stage, f"@Mr Bennet Question {number}?")
        await asyncio.sleep(0.5)
        if process.returncode is not None:
            return number
    return QUESTIONS
