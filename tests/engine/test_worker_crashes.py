"""What becomes of replies when the worker process, or the bot itself, does not survive."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.errors import EngineDied, EngineStartError
from bot.weights.find_model import resolve
from tests.engine.prompts import listen, prompt, request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.protocol import Chunk

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]


@asynccontextmanager
async def running(**options: Any) -> AsyncGenerator[LocalEngine, None]:
    engine = LocalEngine(LocalOptions(**{"context": 512, "minds": 2, "threads": 1, **options}))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


def strike(engine: LocalEngine, signal_number: int) -> None:
    assert engine.worker_pid is not None
    os.kill(engine.worker_pid, signal_number)


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGABRT])
async def test_a_reply_that_has_begun_to_show_ends_and_is_never_doubled(blow: int) -> None:
    async with running() as engine:
        stream = engine.generate(request("Tell me a long story.", max_tokens=400))
        assert (await anext(stream)).text
        strike(engine, blow)
        with pytest.raises(EngineDied, match="try again"):
            await drain(stream)
        assert (await listen(engine, request("Still there?")))[0]


async def test_a_reply_that_has_shown_nothing_is_written_by_the_next_worker() -> None:
    async with running(minds=1) as engine:
        first = engine.generate(request("Tell me a long story.", max_tokens=400))
        assert (await anext(first)).text
        second = asyncio.create_task(
            listen(engine, request("What is the sea?"))
        )  # waits behind the first
        await asyncio.sleep(0.05)
        strike(engine, signal.SIGKILL)
        with pytest.raises(EngineDied):
            await drain(first)
        text, _ = await second
        assert text


async def test_a_request_while_the_worker_is_gone_is_answered_by_the_next_one() -> None:
    async with running() as engine:
        strike(engine, signal.SIGKILL)
        for _ in range(3):
            assert (await listen(engine, request("Hello?")))[0]


async def test_tokens_are_counted_though_the_worker_is_gone_just_now() -> None:
    async with running() as engine:
        before = await engine.count(prompt("Hello?"))
        strike(engine, signal.SIGKILL)
        assert await engine.count(prompt("Hello?")) == before


async def test_a_failing_listener_harms_no_reply() -> None:
    async with running(minds=1) as engine:
        waits = request("Who waits?", max_tokens=4, on_queue_position=[].index)
        replies = await asyncio.gather(
            listen(engine, request("Who comes first?", max_tokens=4)), listen(engine, waits)
        )
        assert len(replies) == 2


async def test_a_worker_that_hangs_is_ended_and_replaced() -> None:
    async with running(hung_after=1.5) as engine:
        before = engine.worker_pid
        strike(engine, signal.SIGSTOP)
        async with asyncio.timeout(20):
            assert (await listen(engine, request("Hello?")))[0]
        assert engine.worker_pid != before


async def test_a_worker_that_never_comes_back_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    model = tmp_path / "gone.gguf"
    shutil.copyfile(resolve("demo").path, model)
    async with running(model=str(model), ready_within=1.0) as engine:
        model.unlink()
        strike(engine, signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(EngineDied):
                await listen(engine, request("Hello?"))


async def test_closing_ends_the_worker_and_what_it_was_writing() -> None:
    async with running() as engine:
        worker = engine.worker_pid
        reply = asyncio.create_task(
            listen(engine, request("Tell me a long story.", max_tokens=400))
        )
        await asyncio.sleep(0.2)
        await engine.close()
        await engine.close()
        with pytest.raises(EngineDied, match="shut down"):
            await reply
        assert not alive(worker)
        with pytest.raises(EngineStartError):
            await engine.count(prompt("Hello?"))


BOT = """
import asyncio, sys
from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from tests.engine.prompts import request

async def main():
    engine = LocalEngine(LocalOptions(context=512, minds=1, threads=1))
    await engine.start()
    async for chunk in engine.generate(request("Tell me a long story.", max_tokens=400)):
        print(engine.worker_pid, flush=True)

asyncio.run(main())
"""


async def test_no_worker_outlives_a_bot_that_was_killed() -> None:
    bot = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BOT, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert bot.stdout is not None
    worker = int(await bot.stdout.readline())
    assert alive(worker)
    bot.kill()
    await bot.wait()
    for _ in range(100):
        if not alive(worker):
            return
        await asyncio.sleep(0.05)
    pytest.fail("the worker is still there five seconds after the bot")


async def drain(stream: AsyncGenerator[Chunk, None]) -> None:
    async for _ in stream:
        pass


def alive(pid: int | None) -> bool:
    """Whether a process runs; one that has ended and was not yet waited for does not."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
            != "Z"
        )
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process's memory this way")
async def test_where_memory_runs_out_the_next_smaller_plan_is_taken_and_said_aloud() -> None:
    loading = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.engine.load_in_little_memory", "550", "20"),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await loading.communicate()
    smaller, none = out.decode().splitlines()
    plan, warning = smaller.split(" | ")
    assert "2 minds of 8,192 tokens" in plan
    assert warning == f"Memory ran out, so a smaller plan was taken: {plan}."
    assert none.startswith(
        "Memory ran out even for the smallest plan (on the CPU, 1 mind of 4,096 tokens"
    )
