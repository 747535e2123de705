"""Reordered and repeated gateway events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.scripted_engine import ScriptedEngine
from tests.play.harness import personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.play.harness import Evening

BENNET = reply("Mr Bennet", says="Well, well.")


async def test_reordered_events_are_each_heard_once_in_their_order_of_arrival(
    evening: Evening,
) -> None:
    engine = ScriptedEngine([BENNET])
    await engine.start()
    async with evening.online(engine):
        await evening.begin()
        evening.discord.gateway.reverse("MESSAGE_CREATE", 3)
        evening.lizzy.say(evening.stage, "@Mr Bennet APPLES?")
        evening.kitty.say(evening.stage, "PICKLES.")
        evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
        await evening.discord.until(
            lambda: engine.requests and "APPLES" in engine.requests[-1].prompt.text
        )
        await evening.answer()
        await evening.discord.quiet()
        prompt = engine.requests[-1].prompt.text
        places = [prompt.index(word) for word in ("MARMALADE", "PICKLES", "APPLES")]
        assert places == sorted(places)
        assert [prompt.count(word) for word in ("MARMALADE", "PICKLES", "APPLES")] == [1, 1, 1]
        assert len(personas(evening.stage)) <= 2
        history = (await evening.kitty.slash(evening.stage, "scene history")).text
        assert [history.count(word) for word in ("MARMALADE", "PICKLES", "APPLES")] == [1, 1, 1]
