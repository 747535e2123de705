"""A hundred scenes with a reply in progress in each."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.scenes.scene import Part, Place
from bot.store.store import Store
from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.play.harness import personas
from tests.scenes.scene_harness import STUDY, reply

if TYPE_CHECKING:
    from bot.engine.protocol import Request
    from tests.loopback import Channel, Outcome
    from tests.play.harness import Evening

SCENES = 100
PAGES = " ".join(
    f"<role_action>turns page {page}</role_action> {'The weather stays fair. ' * 5}"
    for page in range(20)
)


async def test_commands_stay_fast_with_a_hundred_active_scenes(evening: Evening) -> None:
    asked: set[str] = set()

    def script(request: Request) -> Scripted:
        asked.add(request.mind)
        return Scripted(reply("Mr Bennet", says=PAGES), chunk=40, pause=1.0)

    engine = ScriptedEngine([script])
    await engine.start()
    stages = await under_way(evening)
    outcomes: list[Outcome] = []
    async with evening.online(engine):
        evening.discord.rates.enforced = True
        for mind, stage in stages.items():
            evening.lizzy.say(stage, "@Mr Bennet Papa?")
            await evening.discord.until(lambda mind=mind: mind in asked)  # type: ignore[misc]
        await evening.discord.until(lambda: all(personas(stage) for stage in stages.values()), 30)
        for stage in list(stages.values())[::2]:
            outcomes += await asyncio.gather(
                evening.lizzy.slash(stage, "scene status"),
                evening.kitty.context_menu(personas(stage)[0], "More…"),
                evening.kitty.context_menu(personas(stage)[0], "Show thoughts"),
                evening.lizzy.slash(stage, "cast join", character="Elizabeth Bennet"),
            )
        assert engine.running == SCENES
    assert not [outcome for outcome in outcomes if outcome.failed]
    assert evening.discord.refused == 0


async def under_way(evening: Evening) -> dict[str, Channel]:
    """Store scenes in separate channels and return them by the id of Mr Bennet's mind."""
    minds = {}
    parts = [Part(character.name) for character in STUDY.characters]
    async with await Store.open(evening.settings.store.path) as store:
        for number in range(SCENES):
            stage = evening.discord.text_channel(evening.guild, f"study-{number}")
            place = Place(evening.guild.id, stage.id)
            scene = await store.add_scene(place, STUDY, (evening.gm.id,), parts, datetime.now(UTC))
            minds[f"{scene.id}/Mr Bennet"] = stage
    return minds
