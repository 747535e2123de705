"""A disk that fills up is told to those whose words it takes."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import pytest

from tests.proof.program import PATIENCE, answered, answering, online

if sys.platform != "linux":
    pytest.skip("only Linux limits another program's files", allow_module_level=True)

import resource  # there is none on Windows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play.house import Evening


async def test_a_full_disk_is_told_in_the_channel_and_the_program_plays_on_once_there_is_room(
    evening: Evening, tmp_path: Path
) -> None:
    discord = evening.discord
    async with answering(tmp_path, evening) as server, online(tmp_path, evening) as process:
        await evening.begin()
        await discord.quiet(0.3, PATIENCE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        evening.lizzy.say(evening.stage, "@Mr Bennet Question 1?")
        await discord.until(lambda: "written down" in evening.stage.messages[-1].content, PATIENCE)
        evening.lizzy.say(evening.stage, "@Mr Bennet Are you there?")
        await discord.quiet(0.5)
        assert sum("written down" in message.content for message in evening.stage.messages) == 1
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        evening.lizzy.say(evening.stage, "@Mr Bennet Question 2?")
        await answered(evening, 2)
        assert "Question 1?" in server.asked[-1]["prompt"]
        assert "Are you there?" in server.asked[-1]["prompt"]
        process.send_signal(signal.SIGTERM)
        output, _ = await process.communicate()
        assert b"Traceback" not in output
