"""Events that arrive twice, late or in the wrong order count once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.scripted_engine import ScriptedEngine
from tests.play.harness import personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.play.harness import Evening


async def test_lines_that_arrive_twice_and_in_the_wrong_order_are_answered_once(
    evening: Evening,
) -> None:
    discord = evening.discord
    engine = ScriptedEngine([reply("Mr Bennet", says="Well, well.")])
    await engine.start()
    async with evening.online(engine):
        await evening.begin()
        discord.gateway.repeat("MESSAGE_CREATE", 3)
        for number in range(3):
            evening.lizzy.say(evening.stage, f"@Mr Bennet Number {number}?")
        await evening.answer()
        await discord.quiet(0.3)
        shown = len(personas(evening.stage))
        discord.gateway.reverse("MESSAGE_CREATE", 2)
        evening.lizzy.say(evening.stage, "@Mr Bennet PICKLES?")
        evening.kitty.say(evening.stage, "@Mr Bennet MARMALADE?")
        await discord.until(lambda: "PICKLES" in engine.requests[-1].prompt.text)
        await discord.quiet(0.3)
        prompt = engine.requests[-1].prompt.text
        assert shown <= 3
        assert len(personas(evening.stage)) <= shown + 2
        assert [prompt.count(f"Number {number}?") for number in range(3)] == [1, 1, 1]
        assert "MARMALADE" in prompt


async def test_lines_that_could_not_be_read_after_an_outage_are_heard_with_the_next_one(
    evening: Evening,
) -> None:
    discord = evening.discord
    engine = ScriptedEngine([reply("Mr Bennet", says="Well, well.")])
    await engine.start()
    async with evening.online(engine):
        await evening.begin()
        await discord.go_down()
        discord.gateway.forget()
        evening.lizzy.say(evening.stage, "MARMALADE!")
        discord.faults.drop("list_messages")
        discord.come_back()
        await discord.until(lambda: not discord.faults.open, 30)
        evening.kitty.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        prompt = engine.requests[-1].prompt.text
        assert prompt.index("MARMALADE!") < prompt.index("Papa?")


async def test_every_line_said_while_the_bot_was_away_is_heard(
    evening: Evening,
) -> None:
    engine = ScriptedEngine([reply("Mr Bennet", says="Well, well.")], context=65536)
    await engine.start()
    async with evening.online(engine):
        await evening.begin()
    for number in range(150):
        evening.kitty.say(evening.stage, f"Number {number}.")
    async with evening.online(engine):
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer(within=30)
        prompt = engine.requests[-1].prompt.text
        assert [prompt.count(f"Number {number}.") for number in range(150)] == [1] * 150
