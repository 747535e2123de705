"""Replies with a seed that a user has given."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.engine.protocol import PrefetchingEngine, Sampling
from bot.engine.reproducible_engine import ReproducibleEngine
from tests.engine.sample_prompts import listen, prompt, request
from tests.engine.scripted_engine import ScriptedEngine

if TYPE_CHECKING:
    from bot.engine.local.local_engine import LocalEngine
    from bot.engine.protocol import Engine

STORY = "Once upon a time there was a house by the sea, and in it lived a fisherman. " * 8
HOT = Sampling(temperature=1.5, top_p=1.0)


async def tell(engine: Engine, mind: str, tokens: int = 24) -> str:
    wanted = request(f"{STORY} Tell me more.", mind=mind, sampling=HOT, max_tokens=tokens)
    return (await listen(engine, wanted))[0]


async def test_ten_seeded_replies_are_equal_also_beside_others(engine: LocalEngine) -> None:
    seeded = ReproducibleEngine(engine)

    async def disturb(number: int) -> None:
        await listen(
            engine, request(f"{STORY[: 40 * number]} {number}?", sampling=HOT, max_tokens=8)
        )

    replies = [await tell(seeded, "first"), await tell(seeded, "first")]
    together = await asyncio.gather(
        tell(seeded, "first"), tell(seeded, "second"), *(disturb(number) for number in range(4))
    )
    replies += [text for text in together if text]
    await disturb(5)
    seeded.prefetch("third", prompt(f"{STORY} Tell me more."))
    for _ in range(20):
        await engine.count(prompt("Hello?"))  # the engine works on the prefetch in between
    replies.append(await tell(seeded, "third"))
    await tell(engine, "fourth")  # its cache is filled in chunks of any size
    replies.append(await tell(seeded, "fourth"))
    replies += await asyncio.gather(*(tell(seeded, f"mind {number}") for number in range(3)))
    replies.append(await tell(seeded, "first"))
    assert len(replies) == 10
    assert len(set(replies)) == 1
    assert replies[0]


async def test_another_seed_gives_another_reply(engine: LocalEngine) -> None:
    seeded = ReproducibleEngine(engine)
    first, second = [
        (await listen(seeded, request(STORY, mind="seeds", sampling=HOT, seed=seed)))[0]
        for seed in (1, 2)
    ]
    assert first != second


async def test_a_returning_mind_is_read_again_only_from_the_last_whole_chunk(
    engine: LocalEngine,
) -> None:
    seeded = ReproducibleEngine(engine)
    wanted = request(f"Long ago. {STORY}", mind="returning", max_tokens=2)
    _, first = await listen(seeded, wanted)
    _, again = await listen(seeded, wanted)
    assert first.prompt_tokens_read == first.prompt_tokens > 128
    assert again.prompt_tokens_read == first.prompt_tokens % 64


async def test_an_engine_without_prefetching_ignores_prefetches() -> None:
    scripted = ScriptedEngine(["Well?"])
    seeded = ReproducibleEngine(scripted)
    assert isinstance(seeded, PrefetchingEngine)
    await seeded.start()
    seeded.prefetch("mind", prompt("Hello?"))
    assert seeded.info == scripted.info
    assert await seeded.count(prompt("Hello?")) == await scripted.count(prompt("Hello?"))
    await seeded.close()
    assert scripted.closes == 1


@pytest.mark.parametrize("seed", [0, 7])
async def test_requests_are_marked_and_otherwise_unchanged(seed: int) -> None:
    scripted = ScriptedEngine(["Well?"])
    await scripted.start()
    assert (await listen(ReproducibleEngine(scripted), request("Hello?", seed=seed)))[0] == "Well?"
    assert scripted.requests[0].reproducible
    assert scripted.requests[0].seed == seed
