"""Floods: a person or server that asks for too much costs little and delays no one else."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from tests.play.harness import ALLOWED, finished, personas
from tests.proof.test_abuse import assert_answered, ready
from tests.proof.test_worker import write_small_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loopback import Channel, Person
    from tests.play.harness import Evening

CROWD = 40


def rows(evening: Evening) -> dict[str, int]:
    """Return the number of rows in each table."""
    with sqlite3.connect(evening.settings.store.path) as database:
        tables = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        counts = {
            name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
            for name in tables
        }
    database.close()
    return counts


def tasks_of_the_bot() -> int:
    """Return the number of tasks, without the loopback's own for each open connection."""
    return sum("RequestHandler" not in repr(task) for task in asyncio.all_tasks())


async def test_a_crowd_that_joins_and_leaves_a_part_leaves_no_rows_or_tasks(
    evening: Evening,
) -> None:
    discord = evening.discord
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        crowd = [discord.person(f"Guest {number}", evening.guild) for number in range(CROWD)]
        await discord.quiet()
        before = rows(evening)
        tasks = tasks_of_the_bot()
        requests = len(discord.requests)

        async def come_and_go(person: Person) -> None:
            for line in ("join", "leave"):
                options = {"character": "Mr Bennet"} if line == "join" else {}
                assert_answered(await person.slash(evening.stage, f"cast {line}", **options), line)

        await asyncio.gather(*(come_and_go(person) for person in crowd))
        await discord.quiet()
        assert rows(evening) == before
        assert len(discord.requests) - requests <= 2 * CROWD, "one answer each"
        assert tasks_of_the_bot() <= tasks
        assert engine.requests == []
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()


async def test_people_who_come_and_go_cost_no_requests_and_servers_one_welcome_each(
    evening: Evening,
) -> None:
    discord = evening.discord
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        await discord.quiet()
        before = rows(evening)
        tasks = tasks_of_the_bot()
        requests = len(discord.requests)
        for number in range(CROWD):
            discord.person(f"Guest {number}", evening.guild).leave(evening.guild)
            elsewhere = discord.guild(f"Inn {number}", bot_permissions=ALLOWED)
            discord.text_channel(elsewhere, "parlour")
            discord.world.leave(elsewhere, discord.bot)
        await discord.quiet()
        assert rows(evening) == before
        made = [one.route for one in discord.requests[requests:]]
        assert set(made) <= {"create_message"}  # at most one welcome for each server
        assert len(made) <= CROWD
        assert tasks_of_the_bot() <= tasks
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()


async def test_a_button_pressed_forty_times_is_answered_each_time_and_asks_the_model_once(
    evening: Evening,
) -> None:
    discord = evening.discord
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        post = await evening.answer()
        await discord.quiet()
        engine.gate.clear()
        pressed = await asyncio.gather(*(evening.lizzy.press(post, "Retry") for _ in range(CROWD)))
        for outcome in pressed:
            assert_answered(outcome, "Retry")
        await discord.quiet()
        engine.gate.set()
        await discord.until(lambda: "2/2 ▶" in post.labels)
        await discord.quiet()
        assert len(engine.requests) == 2
        assert len(personas(evening.stage)) == 1


@pytest.mark.model
@pytest.mark.timeout(300)
async def test_a_busy_server_does_not_make_another_one_wait(
    evening: Evening, tmp_path: Path
) -> None:
    """The real engine generates one reply and queues two. Seven scenes of one server ask first."""
    discord = evening.discord
    write_small_scenario(evening, tmp_path / "shelf")
    elsewhere = discord.guild("Netherfield", bot_permissions=ALLOWED)
    ballroom = discord.text_channel(elsewhere, "ballroom")
    caroline = discord.person("Caroline", elsewhere)
    rooms = [discord.text_channel(evening.guild, f"room-{number}") for number in range(7)]
    engine = LocalEngine(LocalOptions(context=2048, minds=1, queue=2, threads=1))
    await engine.start()
    try:
        async with evening.online(engine):
            for room in rooms:
                await evening.gm.slash(room, "scene start", scenario="party")
            await caroline.slash(ballroom, "scene start", scenario="party")
            for room in rooms:
                evening.lizzy.say(room, "@Hatter May I sit?")
            await discord.until(lambda: notices(rooms))  # as many requests wait as may
            caroline.say(ballroom, "@Hatter And I?")
            await discord.until(lambda: ballroom.messages[-1].author is not caroline.user, 120)
            assert not [text for text in notices([ballroom]) if "wait already" in text]
            assert sum(bool(finished(room)) for room in rooms) <= 2
    finally:
        await engine.close()


def notices(rooms: list[Channel]) -> list[str]:
    """Return the notices of replies that failed."""
    messages = [
        message for room in rooms for message in room.messages if "Try again" in message.labels
    ]
    return [message.content for message in messages]
