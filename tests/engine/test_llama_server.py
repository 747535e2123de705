"""The remote engine with a real server.

Set COMPLETIONS_SERVER to the address of a running llama-server or vLLM with any small model.
Otherwise a llama-server that is on PATH, or named by LLAMA_SERVER, serves the demo model.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import aiohttp
import pytest

from bot.engine.completions_client import CompletionsClient, ServerError
from bot.engine.grammar_support import GrammarField, find_grammar_field
from bot.engine.protocol import FinishReason, Sampling
from bot.engine.remote_engine import RemoteEngine, RemoteOptions
from bot.engine.sampling_fields import ServerProgram
from bot.errors import EngineStartError, PromptTooLong
from bot.her.beats import BeatKind, select_public
from bot.scenes.rehearsal import Rehearsal
from bot.scenes.reply_generation import ReplyLimits
from bot.weights.find_model import find_model
from tests.engine.sample_prompts import listen, prompt, request
from tests.scenes.scene_harness import STUDY
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

SERVER = os.environ.get("LLAMA_SERVER") or shutil.which("llama-server")
ADDRESS = os.environ.get("COMPLETIONS_SERVER")
GREEDY = Sampling(temperature=0.0, top_p=1.0)

pytestmark = [
    pytest.mark.model,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not (SERVER or ADDRESS), reason="llama-server is not installed"),
]


@asynccontextmanager
async def llama_server() -> AsyncGenerator[str, None]:
    """Start llama-server with the demo model and yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    model = ("-m", find_model("demo").path, "-c", 4096, "-np", 2, "-t", 1)
    process = await asyncio.create_subprocess_exec(
        str(SERVER),
        *map(str, (*model, "--host", "127.0.0.1", "--port", port)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def remote_engine(address: str) -> AsyncGenerator[RemoteEngine, None]:
    remote = RemoteEngine(RemoteOptions(base_url=(address,), grammar=True))
    try:
        await _wait_until_ready(remote)
        yield remote
    finally:
        await remote.close()


@asynccontextmanager
async def serving() -> AsyncGenerator[str, None]:
    """Yield the address of the server under test."""
    if ADDRESS:
        yield ADDRESS
    else:
        async with llama_server() as address:
            yield address


async def test_a_real_server_serves_aside() -> None:
    async with serving() as address, remote_engine(address) as remote:
        await _stream_and_count(remote)
        await _close_planning_and_refuse_long_prompts(remote)
        await _obey_grammars_and_refuse_requests(remote, address)
        await _stop_when_cancelled(remote, address)
        await _play_ten_turns(remote)


async def _stream_and_count(remote: RemoteEngine) -> None:
    assert remote.info.context >= 1024
    wanted = request("Tell me about tea.", sampling=GREEDY, stop=("<|im_end|>",))
    chunks = [chunk async for chunk in remote.generate(wanted)]
    finish = chunks[-1].finish
    assert finish is not None
    assert 1 <= finish.reply_tokens <= wanted.max_tokens
    assert len(chunks) > finish.reply_tokens // 2
    assert finish.prompt_tokens == await remote.count(prompt("Tell me about tea."))
    again, repeated = await listen(remote, wanted)
    assert again[:20] == "".join(chunk.text for chunk in chunks)[:20]
    assert repeated.prompt_tokens_read <= finish.prompt_tokens
    assert await remote.count(prompt("<|im_end|>")) > await remote.count(prompt("")) + 1


async def _close_planning_and_refuse_long_prompts(remote: RemoteEngine) -> None:
    asked = request("Plan.", prefill="<system_thinking>", planning_tokens=6, max_tokens=40)
    text, finish = await listen(remote, asked)
    assert finish.planning_closed_by_force
    assert text.count("</system_thinking>") == 1
    counted = await remote.count(asked.prompt)
    assert counted - 2 <= finish.prompt_tokens <= counted + 16  # the closer's tokens are estimated
    with pytest.raises(PromptTooLong):
        await listen(remote, request("word " * remote.info.context))


async def _obey_grammars_and_refuse_requests(remote: RemoteEngine, address: str) -> None:
    assert remote.info.supports_grammar
    held = request("Count.", grammar='root ::= "one, " ("two" | "three") "."', max_tokens=40)
    text, finish = await listen(remote, held)
    assert text in ("one, two.", "one, three.")
    assert finish.reason is FinishReason.STOP
    async with aiohttp.ClientSession() as session:
        client = CompletionsClient(session, address)
        await client.list_models()
        assert client.program is not ServerProgram.OTHER
        field = await find_grammar_field(client, remote.info.model)
        assert field in (GrammarField.LLAMA_SERVER, GrammarField.VLLM)
        too_long = {"model": remote.info.model, "prompt": "word " * remote.info.context}
        with pytest.raises(ServerError) as caught:
            await _drain(client, {**too_long, "max_tokens": 8, "stream": True})
        assert isinstance(caught.value.as_engine_error(), PromptTooLong)


async def _stop_when_cancelled(remote: RemoteEngine, address: str) -> None:
    root = address.removesuffix("/v1")
    long = replace(request("Count to a million.", max_tokens=900), sampling=Sampling())
    stream = remote.generate(long)
    await anext(stream)
    await stream.aclose()
    async with aiohttp.ClientSession() as session:

        async def is_idle() -> bool:
            async with session.get(f"{root}/slots") as response:
                if response.status != 200:  # vLLM has no slots
                    return True
                return not any(slot["is_processing"] for slot in await response.json())

        await until(is_idle)


async def _play_ten_turns(remote: RemoteEngine) -> None:
    scene = Rehearsal(STUDY, remote, limits=ReplyLimits(max_tokens=96, planning_tokens=16), seed=7)
    for number in range(5):
        for character in ("Mr Bennet", "Mrs Bennet"):
            scene.say("Elizabeth Bennet", f"I ask you for the {number + 1}. time.")
            beats = await scene.reply(character)
            assert beats[0].kind is BeatKind.PLANNING
            assert (public := select_public(beats))
            assert not [beat.text for beat in public if "<" in beat.text]
    assert len(scene.story) == 20


async def _drain(client: CompletionsClient, body: dict[str, object]) -> None:
    async for _ in client.complete(body):
        pass


async def _wait_until_ready(remote: RemoteEngine) -> None:
    for _ in range(60):
        try:
            return await remote.start()
        except EngineStartError:
            await asyncio.sleep(0.5)
    pytest.fail("the server did not start")
