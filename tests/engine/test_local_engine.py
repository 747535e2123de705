"""The local engine with llama.cpp and the demo model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.engine.protocol import Dialect, FinishReason, Request, Sampling
from bot.errors import EngineBusy, EngineError, PromptTooLong
from bot.her.prompt import Control, Prompt, Text
from tests.engine.sample_prompts import listen, prompt, request

if TYPE_CHECKING:
    from bot.engine.local.local_engine import LocalEngine

GREEDY = Sampling(temperature=0.0, top_p=1.0)
CONTEXT = 256


async def test_info_describes_the_model_and_the_device(engine: LocalEngine) -> None:
    assert engine.info.kind == "local"
    assert "SmolLM2" in engine.info.model
    assert engine.info.dialect is Dialect.STAND_IN
    assert engine.info.stand_in
    assert engine.info.context == CONTEXT
    assert engine.info.device == "CPU"
    assert (engine.info.layers_offloaded, engine.info.layers) == (0, 31)
    assert engine.info.sampling == Sampling(
        temperature=0.5, top_p=1.0, min_p=0.1, repeat_penalty=1.15, dry=0.8
    )


async def test_a_reply_streams_in_chunks(engine: LocalEngine) -> None:
    chunks = [chunk async for chunk in engine.generate(request("Tell me about the sea."))]
    assert len(chunks) > 4
    assert all(chunk.finish is None for chunk in chunks[:-1])
    finish = chunks[-1].finish
    assert finish is not None
    assert finish.reason is FinishReason.LENGTH
    assert finish.reply_tokens == 24


async def test_a_reply_ends_with_the_end_of_turn_token(engine: LocalEngine) -> None:
    text, finish = await listen(
        engine, request("Say only the word yes.", max_tokens=200, sampling=GREEDY)
    )
    assert finish.reason is FinishReason.STOP
    assert finish.reply_tokens < 200
    assert "<|" not in text


async def test_the_same_seed_gives_the_same_reply_and_another_seed_does_not(
    engine: LocalEngine,
) -> None:
    hot = Sampling(temperature=1.5, top_p=1.0)
    first, second, other = [
        (await listen(engine, request("Tell me a story.", mind=mind, seed=seed, sampling=hot)))[0]
        for mind, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert first == second
    assert first != other


async def test_simultaneous_replies_do_not_affect_each_other(engine: LocalEngine) -> None:
    subjects = ["dogs", "ships", "tea"]
    alone = [
        await listen(engine, request(f"What are {subject}?", sampling=GREEDY))
        for subject in subjects
    ]
    together = await asyncio.gather(
        *(listen(engine, request(f"What are {subject}?", sampling=GREEDY)) for subject in subjects)
    )
    for subject, one, other in zip(subjects, alone, together, strict=True):
        assert subject in one[0].casefold()
        assert one[0][:20] == other[0][:20]


async def test_the_prompt_of_a_returning_mind_is_not_read_again(engine: LocalEngine) -> None:
    asked = request("Remember the number seven, and the sea.", mind="remembers")
    _, first = await listen(engine, asked)
    _, again = await listen(engine, asked)
    assert first.prompt_tokens_read > 10
    assert again.prompt_tokens_read == 1
    assert again.prompt_tokens == first.prompt_tokens == await engine.count(asked.prompt)


async def test_a_closed_stream_frees_the_engine(engine: LocalEngine) -> None:
    stream = engine.generate(request("Tell me a long story.", max_tokens=200))
    async for _ in stream:
        break
    await stream.aclose()
    text, _ = await listen(engine, request("Tell me about bees."))
    assert text


async def test_a_cancelled_reply_frees_its_slot_at_once(engine: LocalEngine) -> None:
    tasks = [
        asyncio.create_task(
            listen(
                engine,
                request(f"Tell story {n}.", max_tokens=200, sampling=Sampling(temperature=1)),
            )
        )
        for n in range(3)
    ]
    await asyncio.sleep(0.2)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    async with asyncio.timeout(5):
        await listen(engine, request("Quick?", max_tokens=2))


async def test_requests_are_refused_when_the_queue_is_full(engine: LocalEngine) -> None:
    tasks = [
        asyncio.create_task(listen(engine, request(f"Count to {n}.", max_tokens=12)))
        for n in range(7)
    ]
    await asyncio.sleep(0.1)
    with pytest.raises(EngineBusy, match="Try again later"):
        await listen(engine, request("And me?"))
    assert all(text for text, _ in await asyncio.gather(*tasks))


async def test_control_tokens_in_text_stay_text(engine: LocalEngine) -> None:
    as_text = Prompt((Text("<|im_end|>"),))
    as_token = Prompt((Control("<|im_end|>"),))
    assert await engine.count(as_token) == 1
    assert await engine.count(as_text) > 3


async def test_a_prompt_of_control_tokens_alone_is_answered(engine: LocalEngine) -> None:
    asked = Request(Prompt((Control("<|im_start|>"),) * 20), mind="odd", max_tokens=4)
    _, finish = await listen(engine, asked)
    assert finish.prompt_tokens == 20


async def test_an_empty_prompt_is_answered(engine: LocalEngine) -> None:
    _, finish = await listen(engine, Request(Prompt(()), mind="empty", max_tokens=4))
    assert finish.prompt_tokens_read == 1


@pytest.mark.parametrize("over", [0, 1, 400])
async def test_a_prompt_that_fills_the_context_is_refused(engine: LocalEngine, over: int) -> None:
    with pytest.raises(PromptTooLong, match=f"{CONTEXT + over} tokens"):
        await listen(engine, await _request_with_tokens(engine, CONTEXT + over))
    assert (await listen(engine, request("Still there?")))[0]


async def test_a_prompt_one_token_short_of_the_context_gets_one_token(engine: LocalEngine) -> None:
    _, finish = await listen(engine, await _request_with_tokens(engine, CONTEXT - 1))
    assert finish.reason is FinishReason.LENGTH
    assert finish.reply_tokens == 1


async def test_a_full_context_ends_the_reply_without_an_error(engine: LocalEngine) -> None:
    asked = await _request_with_tokens(engine, CONTEXT - 8)
    _, finish = await listen(engine, asked)
    assert finish.reason is FinishReason.LENGTH
    assert finish.reply_tokens == 8


async def test_planning_over_its_limit_is_force_closed_and_the_reply_continues(
    engine: LocalEngine,
) -> None:
    asked = request("Make a plan.", prefill="<system_thinking>", planning_tokens=8, max_tokens=40)
    text, finish = await listen(engine, asked)
    assert finish.planning_closed_by_force
    assert text.count("</system_thinking>") == 1
    before, after = text.split("</system_thinking>")
    assert before
    assert after or finish.reason is FinishReason.STOP
    assert finish.reply_tokens <= 40


async def test_planning_that_closes_itself_is_left_alone(engine: LocalEngine) -> None:
    grammar = 'root ::= " a plan</system_thinking>" [a-z ]{30,60} "."'
    asked = request(
        "Plan.", prefill="<system_thinking>", planning_tokens=12, max_tokens=60, grammar=grammar
    )
    text, finish = await listen(engine, asked)
    assert not finish.planning_closed_by_force
    assert text.startswith(" a plan</system_thinking>")
    assert text.count("<") == 1


async def test_a_reply_without_planning_is_not_force_closed(engine: LocalEngine) -> None:
    text, finish = await listen(engine, request("Tell me about tea.", planning_tokens=4))
    assert not finish.planning_closed_by_force
    assert "<" not in text


async def test_a_grammar_constrains_the_reply(engine: LocalEngine) -> None:
    grammar = r'root ::= "<a>" [a-z ]{5,40} "</a> Zyx: " [0-9]{3}'
    text, finish = await listen(engine, request("Tell me.", grammar=grammar, max_tokens=80))
    assert finish.reason is FinishReason.STOP
    assert text.startswith("<a>")
    name, number = text.split("</a>")[1].split(": ")
    assert name == " Zyx"
    assert len(number) == 3
    assert number.isdigit()


async def test_a_grammar_in_another_script_produces_whole_characters(engine: LocalEngine) -> None:
    chunks = [
        chunk.text
        async for chunk in engine.generate(
            request("?", grammar='root ::= "她笑了。🌸" [。🌸]{2}', max_tokens=60)
        )
    ]
    assert "".join(chunks).startswith("她笑了。🌸")
    assert not any("\ufffd" in chunk for chunk in chunks)


@pytest.mark.parametrize(
    "grammar", ["root ::= foo(", "invalid", 'root ::= missing "a"', "root ::= [", 'other ::= "a"']
)
async def test_an_invalid_grammar_fails_only_its_own_reply(
    engine: LocalEngine, grammar: str
) -> None:
    with pytest.raises(EngineError, match="grammar"):
        await listen(engine, request("Hello.", grammar=grammar))
    assert (await listen(engine, request("Still there?")))[0]


@pytest.mark.parametrize("seed", [-1, 2**32])
async def test_a_seed_out_of_range_is_an_error(engine: LocalEngine, seed: int) -> None:
    with pytest.raises(EngineError, match="seed"):
        await listen(engine, request("Hello.", seed=seed))


async def test_the_largest_seed_is_reproducible(engine: LocalEngine) -> None:
    hot = Sampling(temperature=1.5, top_p=1.0)
    replies = [
        await listen(engine, request("Hm?", mind=mind, seed=2**32 - 1, sampling=hot))
        for mind in ("x", "y")
    ]
    assert replies[0][0] == replies[1][0]


async def test_a_stop_string_ends_the_reply_and_is_not_part_of_it(engine: LocalEngine) -> None:
    asked = request(
        "Hello.",
        grammar='root ::= "One. Two. STOP HERE and more"',
        stop=("STOP HERE",),
        max_tokens=60,
    )
    text, finish = await listen(engine, asked)
    assert text == "One. Two. "
    assert finish.reason is FinishReason.STOP


async def test_lone_surrogates_in_a_prompt_are_accepted(engine: LocalEngine) -> None:
    assert (await listen(engine, request("A lone half: \ud83d and a NUL: \x00.")))[
        1
    ].prompt_tokens > 5


async def test_starting_twice_does_nothing(engine: LocalEngine) -> None:
    before = engine.worker_pid
    await engine.start()
    assert engine.worker_pid == before


async def _request_with_tokens(engine: LocalEngine, tokens: int) -> Request:
    """Return a request whose prompt has exactly this many tokens."""
    base = await engine.count(prompt(""))
    asked = request(" sea" * (tokens - base), mind="long", grammar="root ::= [a-z ]{400}")
    assert await engine.count(asked.prompt) == tokens
    return asked
