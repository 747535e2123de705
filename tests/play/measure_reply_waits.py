"""Measure the latency of the bot itself: `python -m tests.play.measure_reply_waits`.

It prints the time from a player's line to the engine, and the time to the first answer to an
interaction while a hundred scenes have a reply in progress. The engine is scripted. The loopback
Discord runs in the same process, so its work is included.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.loopback import LoopbackDiscord
from tests.play.harness import an_evening, personas
from tests.play.test_many_scenes import PAGES, SCENES, under_way
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from bot.engine.protocol import Request
    from tests.loopback import Channel
    from tests.play.harness import Evening

_ROUNDS = 4  # of four interactions in every scene
_LINES = 100
_PAUSE = 1.0  # seconds between a reply's pieces


async def main(folder: Path) -> None:
    """Measure both times and print them."""
    for measure in (_measure_lines, _measure_interactions):
        async with LoopbackDiscord() as discord:
            await measure(an_evening(discord, folder))
        (folder / "aside.db").unlink()


async def _measure_lines(evening: Evening) -> None:
    arrived: dict[str, float] = {}

    def script(request: Request) -> str:
        arrived[request.mind] = time.perf_counter()
        return reply("Mr Bennet", says="No.")

    engine = ScriptedEngine([script])
    await engine.start()
    waits = []
    stages = await under_way(evening)
    async with evening.online(engine):
        for mind, stage in list(stages.items())[:_LINES]:
            said = time.perf_counter()
            evening.lizzy.say(stage, "@Mr Bennet Papa?")
            await evening.discord.until(lambda mind=mind: mind in arrived)  # type: ignore[misc]
            waits.append(arrived[mind] - said)
            await evening.discord.quiet()
    _report(f"from a line to the engine, {len(waits)} lines", waits)


async def _measure_interactions(evening: Evening) -> None:
    engine = ScriptedEngine([Scripted(reply("Mr Bennet", says=PAGES * 20), chunk=40, pause=_PAUSE)])
    await engine.start()
    stages = list((await under_way(evening)).values())
    async with evening.online(engine):
        evening.discord.rates.enforced = True
        for stage in stages:
            evening.lizzy.say(stage, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: all(personas(stage) for stage in stages), 120)
        waits = []
        for _ in range(_ROUNDS):
            for stage in stages:
                waits += await _interact(evening, stage)
        writing = engine.running
    _report(
        f"first answer to {len(waits)} interactions, {writing} of {SCENES} scenes being written",
        waits,
    )


async def _interact(evening: Evening, stage: Channel) -> list[float]:
    post = personas(stage)[0]
    outcomes = [
        await evening.lizzy.slash(stage, "scene status"),
        await evening.kitty.context_menu(post, "More…"),
        await evening.gm.context_menu(post, "Show thoughts"),
        await evening.lizzy.slash(stage, "cast list"),
    ]
    answers = {
        each.path.split("/")[-3]: each.at
        for each in evening.discord.requests_to("answer_interaction")
    }
    began = {str(each.interaction.id): each.interaction.created_at for each in outcomes}
    return [answers[one] - when for one, when in began.items()]


def _report(label: str, waits: list[float]) -> None:
    centiles = statistics.quantiles(waits, n=100)
    median = statistics.median(waits) * 1000
    worst = centiles[98] * 1000
    sys.stdout.write(f"{label}: median {median:.0f} ms, 99 of 100 within {worst:.0f} ms\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
