"""Evenings in which the game master reveals thoughts and makes them private again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.scripted_engine import ScriptedEngine
from tests.play.harness import Evening, personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.engine.scripted_engine import Script

FIRST = reply("Mr Bennet", thinks="SECRET one", says="You refuse him?")
SECOND = reply("Mr Bennet", thinks="SECRET two", says="You take him?")


async def ready(*script: Script) -> ScriptedEngine:
    engine = ScriptedEngine(list(script))
    await engine.start()
    return engine


async def test_thoughts_of_earlier_replies_stay_as_private_as_they_were(evening: Evening) -> None:
    async with evening.online(await ready(FIRST, SECOND)):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        await evening.gm.slash(evening.stage, "reveal thoughts", where="spoiler")
        post = personas(evening.stage)[-1]
        shown = await evening.lizzy.context_menu(post, "Show thoughts")
        assert "SECRET" not in shown.text
        await evening.lizzy.press(post, "Retry")
        await evening.discord.until(lambda: "SECRET two" in personas(evening.stage)[-1].content)
        await evening.discord.until(lambda: personas(evening.stage)[-1].labels)
        await evening.lizzy.press(personas(evening.stage)[-1], "◀")
        await evening.discord.until(lambda: "refuse" in personas(evening.stage)[-1].content)
        assert "SECRET one" not in evening.lizzy.ever_saw()
        await evening.gm.slash(evening.stage, "reveal thoughts", where="gm")
        await evening.lizzy.press(personas(evening.stage)[-1], "1/2 ▶")
        await evening.discord.until(lambda: "take him" in personas(evening.stage)[-1].content)
        assert "SECRET two" in personas(evening.stage)[-1].content
        assert "SECRET one" not in evening.lizzy.ever_saw()


async def test_a_gm_reveals_the_thoughts_of_an_earlier_reply_on_purpose(evening: Evening) -> None:
    async with evening.online(await ready(FIRST, SECOND)):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        post = await evening.answer()
        evening.lizzy.say(evening.stage, "@Mr Bennet Indeed?")
        await evening.answer(count=2)
        menu = await evening.lizzy.context_menu(post, "More…")
        refused = await evening.lizzy.press(menu.message, "Reveal thoughts")
        assert "Only the game master" in refused.text
        menu = await evening.gm.context_menu(post, "More…")
        await evening.gm.press(menu.message, "Reveal thoughts")
        await evening.discord.until(lambda: "||SECRET one||" in post.content)
        assert "SECRET two" not in evening.lizzy.ever_saw()
        shown = await evening.kitty.context_menu(post, "Show thoughts")
        assert "SECRET one" in shown.text
