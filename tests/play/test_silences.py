"""Evenings in which lines go unheard, and stay unheard after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.scripted_engine import ScriptedEngine
from tests.play.harness import Evening, personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

BENNET = reply("Mr Bennet", says="You refuse him?")


async def ready() -> ScriptedEngine:
    engine = ScriptedEngine([BENNET])
    await engine.start()
    return engine


async def in_a_pause(evening: Evening) -> None:
    await evening.gm.slash(evening.stage, "scene pause")
    evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
    await evening.discord.quiet()
    await evening.gm.slash(evening.stage, "scene unpause")


async def while_muted(evening: Evening) -> None:
    await evening.gm.slash(evening.stage, "gm mute", player=evening.lizzy)
    evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
    await evening.discord.quiet()
    await evening.gm.slash(evening.stage, "gm unmute", player=evening.lizzy)


async def off_stage(evening: Evening) -> None:
    await evening.lizzy.slash(evening.stage, "cast join", character="Elizabeth Bennet")
    await evening.lizzy.slash(evening.stage, "cast exit")
    evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
    await evening.discord.quiet()
    await evening.lizzy.slash(evening.stage, "cast enter")


async def before_a_clear(evening: Evening) -> None:
    evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
    await evening.answer()
    await evening.gm.slash(evening.stage, "scene clear")


@pytest.mark.parametrize("unheard", [in_a_pause, while_muted, off_stage])
async def test_an_unheard_line_stays_unheard_after_a_restart(
    evening: Evening, unheard: Callable[[Evening], Awaitable[None]]
) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        await unheard(evening)
    engine = await ready()
    async with evening.online(engine):
        await evening.discord.quiet()
        assert personas(evening.stage) == []
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        assert all("MARMALADE" not in request.prompt.text for request in engine.requests)


async def test_a_cleared_story_stays_cleared_after_a_restart(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        await before_a_clear(evening)
    engine = await ready()
    async with evening.online(engine):
        await evening.discord.quiet()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer(count=2)
        assert all("MARMALADE" not in request.prompt.text for request in engine.requests)
