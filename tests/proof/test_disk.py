"""A full disk and a locked database. Players are warned and get their replies later."""

from __future__ import annotations

import signal
import sqlite3
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import pytest

from tests.play.harness import personas
from tests.proof.program import PATIENCE, answers, online, serve_answers, thoughts, wait_for_answer

if sys.platform != "linux":
    pytest.skip("only Linux limits another program's files", allow_module_level=True)

import resource  # Windows lacks it

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.play.harness import Evening

Trouble: TypeAlias = "Callable[[asyncio.subprocess.Process, Path], AbstractContextManager[None]]"
NARRATED = "stored at the moment"


@contextmanager
def full(process: asyncio.subprocess.Process, _folder: Path) -> Iterator[None]:
    """Forbid all files of the program to grow."""
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    yield
    resource.prlimit(
        process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    )


@contextmanager
def locked(_process: asyncio.subprocess.Process, folder: Path) -> Iterator[None]:
    """Lock the database from another connection."""
    other = sqlite3.connect(folder / "aside.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


async def test_a_full_disk_is_reported_in_the_channel_and_the_program_recovers(
    evening: Evening, tmp_path: Path
) -> None:
    discord = evening.discord
    async with serve_answers(tmp_path, evening) as server, online(tmp_path, evening) as process:
        await evening.begin()
        await discord.quiet(0.3, PATIENCE)
        with full(process, tmp_path):
            evening.lizzy.say(evening.stage, "@Mr Bennet Question 1?")
            await discord.until(lambda: NARRATED in evening.stage.messages[-1].content, PATIENCE)
            evening.lizzy.say(evening.stage, "@Mr Bennet Are you there?")
            await discord.quiet(0.5)
            assert sum(NARRATED in message.content for message in evening.stage.messages) == 1
        evening.lizzy.say(evening.stage, "@Mr Bennet Question 2?")
        await wait_for_answer(evening, 2)
        assert "Question 1?" in server.requests[-1]["prompt"]
        assert "Are you there?" in server.requests[-1]["prompt"]
        process.send_signal(signal.SIGTERM)
        output, _ = await process.communicate()
        assert b"Traceback" not in output


@pytest.mark.parametrize("trouble", [full, locked])
async def test_a_reply_that_cannot_be_stored_arrives_once_it_can(
    evening: Evening, tmp_path: Path, trouble: Trouble
) -> None:
    discord = evening.discord
    async with serve_answers(tmp_path, evening) as server, online(tmp_path, evening) as process:
        await evening.begin()
        await discord.quiet(0.3, PATIENCE)
        evening.lizzy.say(evening.stage, "@Mr Bennet Question 1?")
        await discord.until(
            lambda: personas(evening.stage), PATIENCE
        )  # the reply has begun to show
        with trouble(process, tmp_path):
            await discord.until(lambda: NARRATED in evening.stage.messages[-1].content, PATIENCE)
            assert personas(evening.stage)[-1].labels == []
        await wait_for_answer(evening, 1)
        await discord.until(lambda: thoughts(evening), PATIENCE)
        await discord.quiet(0.5)
        assert answers(evening.stage) == thoughts(evening) == [1]
        assert len(server.requests) == 1
        process.send_signal(signal.SIGTERM)
        output, _ = await process.communicate()
        assert b"Traceback" not in output
