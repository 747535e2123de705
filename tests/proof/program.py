"""`aside run` as a process between a Discord and a completions server, with numbered replies."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.engine.completions_server import Answer, CompletionsServer
from tests.play.harness import personas
from tests.play.test_program import PROXIED, login, running
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.engine.completions_server import Body
    from tests.loopback import Channel
    from tests.play.harness import Evening

PATIENCE = 90.0  # seconds for a start or a reply on a busy machine


def answer_to(prompt: str) -> str:
    """Return the answer to the last question of a prompt, such as `Question 7`, by its number."""
    number = re.findall(r"Question (\d+)", prompt)[-1]
    pages = " ".join(
        f"<role_action>turns page {page}</role_action> Page {page} is dull." for page in range(9)
    )
    said = f"Answer {number}. {pages} End {number}."
    return reply("Mr Bennet", plan=f"PLAN {number}", thinks=f"SECRET {number}", says=said)


def echo(body: Body, pause: float = 0.004) -> Answer:
    """Answer as a completions server does."""
    return Answer(answer_to(body["prompt"]), pause=pause)


@asynccontextmanager
async def serve_answers(folder: Path, evening: Evening) -> AsyncIterator[CompletionsServer]:
    """Run a completions server that answers by number, and write settings for it to `folder`."""
    async with CompletionsServer([echo], context=32768) as server:
        settings = PROXIED.format(proxy=evening.discord.proxy_url, url=server.url)
        (folder / "aside.yaml").write_text(settings)
        yield server


@asynccontextmanager
async def started(folder: Path, evening: Evening) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start the program, and yield it when it has connected to Discord."""
    discord = evening.discord
    before = discord.gateway.identified
    async with running(folder, login(discord)) as process:
        await discord.until(
            lambda: discord.gateway.identified > before or process.returncode, PATIENCE
        )
        yield process


@asynccontextmanager
async def online(folder: Path, evening: Evening) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start the program, and yield it when it can hear and answer."""
    async with started(folder, evening) as process:
        await evening.discord.until(lambda: evening.discord.requests_to("sync_commands"), PATIENCE)
        await evening.discord.quiet(0.3, PATIENCE)
        yield process


def thoughts(evening: Evening) -> list[int]:
    """Return the numbers of the answers whose thoughts the game master received, in order."""
    letters = "\n".join(text for letter in evening.gm.dms for text in letter.now.texts())
    return [int(found) for found in re.findall(r"SECRET (\d+)", letters)]


def assert_nothing_private(evening: Evening) -> None:
    """Fail if a player ever saw private text."""
    for person in (evening.lizzy, evening.kitty):
        assert not re.search("SECRET|PLAN", person.ever_saw())


def answers(stage: Channel) -> list[int]:
    """Return the numbers of the answers in a channel, in order."""
    return [
        int(found)
        for post in personas(stage)
        for found in re.findall(r"Answer (\d+)", post.content)
    ]


async def wait_for_answer(evening: Evening, number: int, stage: Channel | None = None) -> None:
    """Wait until an answer is complete."""
    there = stage or evening.stage
    end = f"End {number}."
    await evening.discord.until(
        lambda: any(post.content.endswith(end) for post in personas(there)),
        PATIENCE,
        f"answer {number}",
    )
