"""The model's worker is killed, aborts, freezes or stays away.

Each time, players get one reply, or a notice and a button to try again.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.engine.protocol import Dialect
from bot.errors import EngineDied
from bot.her.prompt import Prompt, Text
from bot.posting.reply_draft import CURSOR
from bot.settings import LibrarySettings, PlaySettings
from bot.weights.find_model import find_model
from tests.library.sample_libraries import put
from tests.play.harness import personas
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.loopback import DiscordMessage
    from tests.play.harness import Evening

pytestmark = [
    pytest.mark.model,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]
PATIENCE = 120.0  # seconds for a reply on a busy machine


@asynccontextmanager
async def playing(evening: Evening, folder: Path, **options: Any) -> AsyncIterator[LocalEngine]:
    """Put the real engine behind the bot, and start a small scene that it reads quickly."""
    write_small_scenario(evening, folder)
    engine = LocalEngine(LocalOptions(**{"context": 2048, "minds": 2, "threads": 1, **options}))
    await engine.start()
    try:
        async with evening.online(engine):
            await evening.gm.slash(evening.stage, "scene start", scenario="party")
            yield engine
    finally:
        await engine.close()


def write_small_scenario(evening: Evening, folder: Path) -> None:
    """Add a scenario `party` that the model reads quickly, with little planning."""
    put(folder, "party")
    library = LibrarySettings(folders=(folder,))
    short = PlaySettings(max_tokens=192, planning_tokens=16)
    evening.settings = evening.settings.model_copy(update={"play": short, "library": library})


def whole(evening: Evening) -> list[DiscordMessage]:
    """Return the complete replies. Only the latest has buttons."""
    return [post for post in personas(evening.stage) if not post.content.endswith(CURSOR)]


async def replied(evening: Evening, count: int) -> None:
    """Wait until this many replies are complete and the last has its buttons."""
    await evening.discord.until(
        lambda: len(whole(evening)) >= count and whole(evening)[-1].labels,
        PATIENCE,
        f"{count} replies",
    )


async def begun(evening: Evening, count: int) -> None:
    """Wait until this many replies show. The last may be incomplete."""
    await evening.discord.until(
        lambda: len(personas(evening.stage)) == count, PATIENCE, f"{count} replies begun"
    )


async def answers(engine: LocalEngine) -> bool:
    """Return whether a worker accepts requests."""
    with suppress(EngineDied):
        return bool(await engine.count(Prompt((Text("Well?"),))))
    return False


async def test_a_killed_or_frozen_worker_costs_no_reply(evening: Evening, tmp_path: Path) -> None:
    """Each reply after the first is also the first of a new worker."""
    async with playing(evening, tmp_path / "shelf", hung_after=3.0) as engine:
        for number, blow in enumerate((signal.SIGKILL, signal.SIGABRT, signal.SIGSTOP), start=1):
            evening.lizzy.say(evening.stage, "@Hatter May I sit?")
            await begun(evening, number)
            assert engine.worker_pid is not None
            os.kill(engine.worker_pid, blow)
            await replied(evening, number)
        evening.kitty.say(evening.stage, "@Hatter And I?")
        await replied(evening, 4)
        await evening.discord.quiet()
        assert len(personas(evening.stage)) == 4
        assert "||" not in evening.lizzy.ever_saw()


async def test_a_worker_that_stays_away_is_reported_and_the_reply_arrives_once_it_is_back(
    evening: Evening, tmp_path: Path
) -> None:
    model, away = tmp_path / "model.gguf", tmp_path / "away.gguf"
    shutil.copyfile(find_model("demo").path, model)
    model_here = {"model": str(model), "dialect": Dialect.STAND_IN, "ready_within": 0.5}
    async with playing(evening, tmp_path / "shelf", **model_here) as engine:
        model.rename(away)
        assert engine.worker_pid is not None
        os.kill(engine.worker_pid, signal.SIGKILL)
        evening.lizzy.say(evening.stage, "@Hatter May I sit?")
        notice = await evening.discord.until(
            lambda: [
                message for message in evening.stage.messages if "Try again" in message.labels
            ],
            PATIENCE,
        )
        assert personas(evening.stage) == []
        away.rename(model)
        await until(lambda: answers(engine), within=PATIENCE)
        await evening.lizzy.press(notice[0], "Try again")
        await replied(evening, 1)
        assert len(personas(evening.stage)) == 1
        await evening.discord.until(lambda: notice[0].deleted)
