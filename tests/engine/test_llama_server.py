"""The remote engine with a real llama-server, if one is on PATH or named by LLAMA_SERVER."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bot.engine.protocol import Sampling
from bot.engine.remote_engine import RemoteEngine, RemoteOptions
from bot.errors import EngineStartError, PromptTooLong
from bot.weights.find_model import find_model
from tests.engine.sample_prompts import listen, prompt, request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

SERVER = os.environ.get("LLAMA_SERVER") or shutil.which("llama-server")

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(not SERVER, reason="llama-server is not installed"),
]


@asynccontextmanager
async def remote_engine() -> AsyncGenerator[RemoteEngine, None]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = (
        "-m",
        find_model("demo").path,
        "-c",
        1024,
        "-np",
        2,
        "-t",
        1,
        "--host",
        "127.0.0.1",
        "--port",
        port,
    )
    process = await asyncio.create_subprocess_exec(
        str(SERVER),
        *map(str, arguments),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    remote = RemoteEngine(RemoteOptions(base_url=(f"http://127.0.0.1:{port}",)))
    try:
        await _wait_until_ready(remote)
        yield remote
    finally:
        await remote.close()
        process.kill()
        await process.wait()


async def test_it_streams_counts_closes_planning_and_refuses_long_prompts() -> None:
    async with remote_engine() as remote:
        assert remote.info.context in (512, 1024)
        greedy = Sampling(temperature=0.0, top_p=1.0)
        text, finish = await listen(
            remote, request("Tell me about tea.", sampling=greedy, stop=("<|im_end|>",))
        )
        assert text
        assert finish.prompt_tokens == await remote.count(prompt("Tell me about tea."))
        again, repeated = await listen(
            remote, request("Tell me about tea.", sampling=greedy, stop=("<|im_end|>",))
        )
        assert again[:20] == text[:20]
        assert repeated.prompt_tokens_read <= finish.prompt_tokens
        asked = request("Plan.", prefill="<system_thinking>", planning_tokens=6, max_tokens=40)
        text, finish = await listen(remote, asked)
        assert finish.planning_closed_by_force
        assert text.count("</system_thinking>") == 1
        with pytest.raises(PromptTooLong):
            await listen(remote, request("word " * 2000))
        assert await remote.count(prompt("<|im_end|>")) > await remote.count(prompt("")) + 1


async def _wait_until_ready(remote: RemoteEngine) -> None:
    for _ in range(60):
        try:
            return await remote.start()
        except EngineStartError:
            await asyncio.sleep(0.5)
    pytest.fail("llama-server did not start")
