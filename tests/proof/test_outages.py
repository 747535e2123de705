"""Outages of Discord and of the database."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from typing import TYPE_CHECKING

from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.play.harness import personas
from tests.play.test_program import login, running
from tests.proof.program import PATIENCE, online, serve_answers
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play.harness import Evening

PAGES = " ".join(
    f"<role_action>turns page {page}</role_action> Page {page} says nothing." for page in range(20)
)
SLOW = Scripted(reply("Mr Bennet", plan="PLAN", thinks="SECRET", says=PAGES), chunk=8, pause=0.01)


async def test_a_reply_that_ends_during_an_outage_arrives_afterwards(
    evening: Evening,
) -> None:
    discord = evening.discord
    engine = ScriptedEngine([SLOW])
    await engine.start()
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await discord.until(lambda: engine.running)
        await discord.go_down()
        await discord.until(lambda: not engine.running)
        await asyncio.sleep(0.5)
        discord.come_back()
        await discord.until(
            lambda: personas(evening.stage)[-1:] and personas(evening.stage)[-1].labels, 30
        )
        await discord.quiet(0.3)
        assert [post.content.count("says nothing") for post in personas(evening.stage)] == [20]
        assert "SECRET" in "\n".join(text for each in evening.gm.dms for text in each.now.texts())
        assert "SECRET" not in evening.lizzy.ever_saw()
        assert len(engine.requests) == 1


async def test_lines_said_while_discord_had_lost_the_bot_are_heard_afterwards(
    evening: Evening,
) -> None:
    discord = evening.discord
    engine = ScriptedEngine([reply("Mr Bennet", says="Well, well.")])
    await engine.start()
    async with evening.online(engine):
        await evening.begin()
        await discord.go_down()
        discord.gateway.forget()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await asyncio.sleep(0.5)
        discord.come_back()
        await evening.answer(within=30)
        await discord.quiet(0.3)
        assert len(personas(evening.stage)) == 1


async def one_sentence(folder: Path, evening: Evening, *, status: int) -> str:
    """Start the program, which must end with `status`, and return its message."""
    async with running(folder, login(evening.discord)) as process:
        output, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == status
    said = [line for line in output.decode().splitlines() if " INFO " not in line]
    assert len(said) == 1, output.decode()
    return said[0]


async def test_an_unusable_database_is_reported_in_one_sentence(
    evening: Evening, tmp_path: Path
) -> None:
    async with serve_answers(tmp_path, evening):
        async with online(tmp_path, evening) as process:
            await evening.begin()
            process.send_signal(signal.SIGTERM)
            await process.wait()
        database = tmp_path / "aside.db"
        whole = database.read_bytes()

        locking = sqlite3.connect(database, isolation_level=None)
        locking.execute("BEGIN EXCLUSIVE")
        assert "locked by another program" in await one_sentence(tmp_path, evening, status=1)
        locking.close()

        with sqlite3.connect(database) as newer:
            newer.execute("PRAGMA user_version = 9999")
        newer.close()
        assert "newer" in await one_sentence(tmp_path, evening, status=2)

        database.write_bytes(whole[:4096] + b"\xff" * 2048 + whole[6144:])
        assert "damaged" in await one_sentence(tmp_path, evening, status=2)
        database.write_bytes(b"<html>504 Gateway Time-out</html>" * 100)
        assert "not a database of Aside" in await one_sentence(tmp_path, evening, status=2)


async def test_a_second_program_on_the_same_database_is_refused_and_the_first_goes_on(
    evening: Evening, tmp_path: Path
) -> None:
    async with serve_answers(tmp_path, evening), online(tmp_path, evening) as first:
        assert "Another Aside is running" in await one_sentence(tmp_path, evening, status=1)
        assert first.returncode is None
