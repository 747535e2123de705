"""The engine behind the curtain: the same words come, nobody waits for them, and the page can tell who thinks."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from bot.engine.protocol import Request
from bot.errors import EngineDied
from bot.her.prompt import Prompt, Text
from bot.tryout.engine_proxy import EngineProxy
from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.tryout.conftest import SmallBot, world
from tests.wait_until import until

if TYPE_CHECKING:
    import discord

ASKED = Request(Prompt((Text("Papa?"),)), "7/Mr Bennet")


async def started(engine: ScriptedEngine) -> EngineProxy:
    await engine.start()
    return EngineProxy(engine)


async def test_a_reply_comes_as_the_engine_gives_it() -> None:
    offstage = await started(ScriptedEngine(["An unhappy alternative is before you."]))
    chunks = [chunk async for chunk in offstage.generate(ASKED)]
    assert "".join(chunk.text for chunk in chunks) == "An unhappy alternative is before you."
    assert [chunk.finish is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert await offstage.count(ASKED.prompt) == 2


async def test_an_engine_s_failure_is_the_bot_s_to_handle() -> None:
    offstage = await started(ScriptedEngine([Scripted("An un", error=EngineDied("It died."))]))
    chunks = offstage.generate(ASKED)
    assert (await anext(chunks)).text == "An un"
    with pytest.raises(EngineDied, match=r"It died\."):
        await anext(chunks)


async def test_who_listens_no_longer_stops_the_engine() -> None:
    engine = ScriptedEngine([Scripted("word " * 1000, pause=0.01)])
    offstage = await started(engine)
    async with aclosing(offstage.generate(ASKED)) as chunks:
        await anext(chunks)
    assert engine.cancelled == [ASKED]
    assert engine.running == 0


async def test_it_tells_who_thinks_and_how_long_it_took() -> None:
    engine = ScriptedEngine([Scripted("Well?", pause=0.05)])
    offstage = await started(engine)
    assert not offstage.thinking
    async with aclosing(offstage.generate(ASKED)) as chunks:
        await anext(chunks)
        assert [one.mind for one in offstage.thinking] == ["7/Mr Bennet"]
    assert not offstage.thinking
    assert offstage.last_took is not None
    assert offstage.last_took > 0.04


async def test_what_is_expected_reaches_an_engine_that_can_use_it() -> None:
    class Foresighted(ScriptedEngine):
        def prefetch(self, mind: str, prompt: Prompt) -> None:
            expected.append((mind, prompt.text))

    expected: list[tuple[str, str]] = []
    (await started(Foresighted(["Well?"]))).prefetch("7/Jane", ASKED.prompt)
    (await started(ScriptedEngine(["Well?"]))).prefetch("7/Jane", ASKED.prompt)
    assert expected == [("7/Jane", "Papa?")]


async def test_a_person_may_speak_while_the_model_thinks() -> None:
    engine = ScriptedEngine(["Well, Lizzy?"])
    offstage = await started(engine)
    engine.gate.clear()

    async def answer(message: discord.Message) -> None:
        if message.content == "Papa?":
            await message.channel.send(
                "".join([chunk.text async for chunk in offstage.generate(ASKED)])
            )

    async with world(SmallBot(answer)) as demo:
        offstage.external_wait = demo.live.external_wait
        async with asyncio.timeout(2):  # simcord alone would wait for the reply
            await demo.say("Papa?")
            await demo.say("Shall we wait?", key="ben")
        assert demo.said() == ["Papa?", "Shall we wait?"]
        engine.gate.set()
        await until(lambda: demo.said()[-1] == "Well, Lizzy?")
