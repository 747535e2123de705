"""How long people wait for the bot itself: `python -m tests.play.measure_waits`.

Prints how long the first answer to an interaction takes while a reply is being written in each of a hundred scenes, and
how long a player's line is on its way to the engine, which is a scripted one. Discord is the loopback one, in the same
process, and its work is counted in.
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
from tests.scenes.harness import reply

if TYPE_CHECKING:
    from bot.engine.protocol import Request
    from tests.loopback import Channel
    from tests.play.harness import Evening

_ROUNDS = 4  # of four interactions in every scene
_LINES = 100
_PAUSE = 1.0  # seconds between a reply's pieces


async def main(folder: Path) -> None:
    """Measure, and print."""
    for measure in (_lines, _interactions):
        async with LoopbackDiscord() as discord:
            await measure(an_evening(discord, folder))
        (folder / "aside.db").unlink()


async def _lines(evening: Evening) -> None:
    asked: dict[str, float] = {}

    def script(request: Request) -> str:
        asked[request.mind] = time.perf_counter()
        return reply("Mr Bennet", says="No.")

    engine = ScriptedEngine([script])
    await engine.start()
    waits = []
    stages = await under_way(evening)
    async with evening.online(engine):
        for mind, stage in list(stages.items())[:_LINES]:
            said = time.perf_counter()
            evening.lizzy.say(stage, "@Mr Bennet Papa?")
            await evening.discord.until(lambda mind=mind: mind in asked)  # type: ignore[misc]
            waits.append(asked[mind] - said)
            await evening.discord.quiet()
    _tell(f"from a line to the engine, {len(waits)} lines", waits)


async def _interactions(evening: Evening) -> None:
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
                waits += await _asked(evening, stage)
        writing = engine.running
    _tell(
        f"first answer to {len(waits)} interactions, {writing} of {SCENES} scenes being written",
        waits,
    )


async def _asked(evening: Evening, stage: Channel) -> list[float]:
    post = personas(stage)[0]
    outcomes = [
        await evening.lizzy.slash(stage, "scene status"),
        await evening.kitty.context_menu(post, "More…"),
        await evening.gm.context_menu(post, "Show thoughts"),
        await evening.lizzy.slash(stage, "cast list"),
    ]
    answers = {
        each.path.split("/")[-3]: each.at for each in evening.discord.asked("answer_interaction")
    }
    began = {str(each.interaction.id): each.interaction.created_at for each in outcomes}
    return [answers[one] - when for one, when in began.items()]


def _tell(what: str, waits: list[float]) -> None:
    centiles = statistics.quantiles(waits, n=100)
    median, worst = statistics.median(waits) * 1000, centiles[98] * 1000
    sys.stdout.write(f"{what}: median {median:.0f} ms, 99 of 100 within {worst:.0f} ms\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
