"""The engine proxy streams replies unchanged, reports progress and never blocks the simulation."""

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
from tests.tryout.conftest import SmallBot, simulate
from tests.wait_until import until

if TYPE_CHECKING:
    import discord

ASKED = Request(Prompt((Text("Papa?"),)), "7/Mr Bennet")


async def started(engine: ScriptedEngine) -> EngineProxy:
    await engine.start()
    return EngineProxy(engine)


async def test_a_reply_is_streamed_unchanged() -> None:
    proxy = await started(ScriptedEngine(["An unhappy alternative is before you."]))
    chunks = [chunk async for chunk in proxy.generate(ASKED)]
    assert "".join(chunk.text for chunk in chunks) == "An unhappy alternative is before you."
    assert [chunk.finish is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert await proxy.count(ASKED.prompt) == 2


async def test_an_engine_error_reaches_the_bot() -> None:
    proxy = await started(ScriptedEngine([Scripted("An un", error=EngineDied("It died."))]))
    chunks = proxy.generate(ASKED)
    assert (await anext(chunks)).text == "An un"
    with pytest.raises(EngineDied, match=r"It died\."):
        await anext(chunks)


async def test_closing_the_stream_cancels_generation() -> None:
    engine = ScriptedEngine([Scripted("word " * 1000, pause=0.01)])
    proxy = await started(engine)
    async with aclosing(proxy.generate(ASKED)) as chunks:
        await anext(chunks)
    assert engine.cancelled == [ASKED]
    assert engine.running == 0


async def test_running_replies_and_the_last_duration_are_known() -> None:
    engine = ScriptedEngine([Scripted("Well?", pause=0.05)])
    proxy = await started(engine)
    assert not proxy.thinking
    async with aclosing(proxy.generate(ASKED)) as chunks:
        await anext(chunks)
        assert [one.mind for one in proxy.thinking] == ["7/Mr Bennet"]
    assert not proxy.thinking
    assert proxy.last_took is not None
    assert proxy.last_took > 0.04


async def test_prefetching_is_forwarded_only_to_engines_that_support_it() -> None:
    class Foresighted(ScriptedEngine):
        def prefetch(self, mind: str, prompt: Prompt) -> None:
            expected.append((mind, prompt.text))

    expected: list[tuple[str, str]] = []
    (await started(Foresighted(["Well?"]))).prefetch("7/Jane", ASKED.prompt)
    (await started(ScriptedEngine(["Well?"]))).prefetch("7/Jane", ASKED.prompt)
    assert expected == [("7/Jane", "Papa?")]


async def test_people_can_speak_while_the_model_generates() -> None:
    engine = ScriptedEngine(["Well, Lizzy?"])
    proxy = await started(engine)
    engine.gate.clear()

    async def answer(message: discord.Message) -> None:
        if message.content == "Papa?":
            await message.channel.send(
                "".join([chunk.text async for chunk in proxy.generate(ASKED)])
            )

    async with simulate(SmallBot(answer)) as sim:
        proxy.external_wait = sim.live.external_wait
        async with asyncio.timeout(2):  # simcord alone would wait for the reply
            await sim.say("Papa?")
            await sim.say("Shall we wait?", key="ben")
        assert sim.said() == ["Papa?", "Shall we wait?"]
        engine.gate.set()
        await until(lambda: sim.said()[-1] == "Well, Lizzy?")
