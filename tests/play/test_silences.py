"""Evenings in which lines go unheard, and stay unheard after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.scripted_engine import ScriptedEngine
from tests.loopback import LoopbackDiscord
from tests.play.harness import Evening, an_evening, personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

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


async def test_silences_follow_discords_clock(tmp_path: Path) -> None:
    """The machine's clock is five minutes slow, then five minutes fast."""
    for ahead in (300.0, -300.0):
        async with LoopbackDiscord(ahead=ahead) as discord:
            evening = an_evening(discord, tmp_path / str(ahead))
            async with evening.online(await ready()):
                await evening.begin()
                await in_a_pause(evening)
                await off_stage(evening)
                await evening.gm.slash(evening.stage, "scene pause")
            evening.lizzy.say(evening.stage, "MARMALADE, while the bot is away")
            async with evening.online(await ready()):
                await evening.gm.slash(evening.stage, "scene unpause")
            evening.lizzy.say(evening.stage, "HONEY?")
            engine = await ready()
            async with evening.online(engine):
                evening.kitty.say(evening.stage, "@Mr Bennet What does she like?")
                await evening.answer()
                assert "HONEY" in engine.requests[0].prompt.text
                assert "MARMALADE" not in engine.requests[0].prompt.text


async def test_nothing_of_a_cleared_story_comes_back_by_buttons_menus_and_forms(
    evening: Evening,
) -> None:
    engine = await ready()
    gm, stage = evening.gm, evening.stage
    async with evening.online(engine):
        await evening.begin()
        line = evening.lizzy.say(stage, "@Mr Bennet MARMALADE?")
        post = await evening.answer()
        menu = await gm.context_menu(post, "More…")
        form = await gm.context_menu(post, "Edit")
        other = await gm.context_menu(line, "More…")
        hidden = await gm.press(other.message, "Hide")
        await evening.discord.until(lambda: "Unhide" in hidden.text)
        await gm.slash(stage, "scene clear")
        for button in ("Retry", "Write more", "Edit", "Rewind to here", "Branch", "Hide"):
            await gm.press(menu.message, button)
        for name in ("Retry", "Edit", "Rewind to here"):
            await gm.context_menu(post, name)
        await gm.submit_modal(form, {"text": "MARMALADE!"})
        outcome = await gm.press(hidden.message, "Unhide")
        await evening.discord.until(lambda: "the story was cleared" in outcome.text)
        await evening.discord.quiet()
        assert len(engine.requests) == 1
    async with evening.online(engine):
        evening.lizzy.edit(line, "@Mr Bennet MARMALADE!")
        evening.lizzy.say(stage, "Papa?", reply_to=post)
        await evening.discord.until(lambda: len(engine.requests) == 2)
        assert "MARMALADE" not in engine.requests[1].prompt.text
