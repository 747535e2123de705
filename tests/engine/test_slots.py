"""More minds than slots: the KV cache of each mind, the queue, and prefetching."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.engine.protocol import PrefetchingEngine, Sampling
from bot.her.prompt import Control, Prompt, Text
from tests.engine.sample_prompts import listen, prompt, request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.model

GREEDY = Sampling(temperature=0.0, top_p=1.0)
LONG = "Once upon a time there was a sea. " * 12


@asynccontextmanager
async def engine_with_slots(count: int, **options: Any) -> AsyncGenerator[LocalEngine, None]:
    engine = LocalEngine(LocalOptions(context=256, minds=count, threads=1, **options))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


async def wait_for_steps(engine: LocalEngine) -> None:
    """Wait until an idle engine has made some steps. It counts tokens once between two steps."""
    for _ in range(60):
        await engine.count(prompt("Hello?"))


async def test_a_mind_that_lost_its_slot_is_restored_from_main_memory(
    narrow: LocalEngine,
) -> None:
    mine = request(LONG + "What did I say?", mind="mine", sampling=GREEDY, max_tokens=12)
    first, read_first = await listen(narrow, mine)
    await listen(narrow, request("Something else entirely?", mind="other", max_tokens=2))
    again, read_again = await listen(narrow, mine)
    assert read_first.prompt_tokens_read > 100
    assert read_again.prompt_tokens_read == 1
    assert again[:20] == first[:20]


async def test_a_mind_is_prefilled_again_if_its_state_exceeds_the_memory_limit() -> None:
    async with engine_with_slots(1, host_memory=1000) as engine:
        mine = request(LONG, mind="mine", max_tokens=2)
        _, first = await listen(engine, mine)
        await listen(engine, request("Something else entirely?", mind="other", max_tokens=2))
        _, again = await listen(engine, mine)
        assert again.prompt_tokens_read > first.prompt_tokens_read - 10


async def test_a_prefetch_is_read_while_the_engine_is_idle() -> None:
    async with engine_with_slots(2) as engine:
        assert isinstance(engine, PrefetchingEngine)
        before = prompt(LONG)
        await listen(engine, request(LONG, mind="mine", max_tokens=2))
        coming = Prompt(
            (
                *before.parts,
                Text("Mr Bennet: " + "I know it all. " * 8),
                Control("<|im_end|>"),
                Text("\n"),
            )
        )
        engine.prefetch("mine", coming)
        await listen(engine, request("Something short?", mind="other", max_tokens=2))
        await wait_for_steps(engine)
        asked = Prompt((*coming.parts, *prompt("And then?").parts))
        _, finish = await listen(engine, request("", mind="mine", max_tokens=2, prompt=asked))
        new = await engine.count(prompt("And then?"))
        assert finish.prompt_tokens_read <= new + 1


async def test_a_prefetch_of_a_new_mind_takes_an_unused_slot_only() -> None:
    async with engine_with_slots(1) as engine:
        coming = prompt(LONG)
        engine.prefetch("mine", coming)
        await wait_for_steps(engine)
        _, finish = await listen(engine, request("", mind="mine", max_tokens=2, prompt=coming))
        assert finish.prompt_tokens_read == 1
        engine.prefetch("other", prompt("Something else entirely?" * 10))
        await wait_for_steps(engine)
        _, finish = await listen(engine, request("", mind="mine", max_tokens=2, prompt=coming))
        assert finish.prompt_tokens_read == 1


async def test_a_useless_prefetch_does_no_harm() -> None:
    async with engine_with_slots(1) as engine:
        engine.prefetch("unknown", prompt("Hello?"))
        engine.prefetch("unknown", Prompt(()))
        engine.prefetch("unknown", prompt("word " * 500))
        assert (await listen(engine, request("Hello?")))[0]
    engine.prefetch("unknown", prompt("Hello?"))


async def test_a_busy_guild_does_not_starve_another_one(narrow: LocalEngine) -> None:
    order: list[str] = []

    async def ask(name: str, guild: str) -> None:
        await listen(narrow, request(f"Who is {name}?", guild=guild, max_tokens=4))
        order.append(name)

    busy = [asyncio.create_task(ask(f"busy {number}", "busy")) for number in range(4)]
    await asyncio.sleep(0.05)
    quiet = asyncio.create_task(ask("quiet", "quiet"))
    await asyncio.gather(*busy, quiet)
    assert order.index("quiet") <= 2


async def test_waiting_requests_learn_their_queue_position(narrow: LocalEngine) -> None:
    positions: dict[int, list[int]] = {number: [] for number in range(3)}
    await asyncio.gather(
        *(
            listen(
                narrow,
                request(
                    f"Who is {number}?", max_tokens=4, on_queue_position=positions[number].append
                ),
            )
            for number in range(3)
        )
    )
    assert positions == {0: [], 1: [0], 2: [1, 0]}


async def test_dry_penalises_repeated_phrases(narrow: LocalEngine) -> None:
    grammar = 'root ::= ("ha " | "ho ")+'
    plain, dry = [
        (
            await listen(
                narrow,
                request(
                    "Laugh.", mind=str(strength), grammar=grammar, max_tokens=40, sampling=sampling
                ),
            )
        )[0]
        for strength in (0.0, 2.0)
        for sampling in [Sampling(temperature=0.0, top_p=1.0, dry=strength)]
    ]
    assert len(set(zip(dry.split(), dry.split()[1:], dry.split()[2:], strict=False))) >= len(
        set(zip(plain.split(), plain.split()[1:], plain.split()[2:], strict=False))
    )
    assert dry != plain


async def test_dry_penalises_phrases_of_the_prompt(narrow: LocalEngine) -> None:
    text = "The rain falls on the old grey house by the sea. " * 4 + "The rain falls on the old"
    plain, dry = [
        (
            await listen(
                narrow, request(text, mind=f"strength {strength}", max_tokens=8, sampling=sampling)
            )
        )[0]
        for strength in (0.0, 2.0)
        for sampling in [Sampling(temperature=0.0, top_p=1.0, dry=strength)]
    ]
    assert "grey house by the sea" in plain
    assert "grey house by the sea" not in dry
