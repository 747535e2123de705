"""Replies after a crash of the worker process or of the bot."""

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
from bot.weights.find_model import find_model
from tests.engine.sample_prompts import listen, prompt, request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.protocol import Chunk

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]


@asynccontextmanager
async def started_engine(**options: Any) -> AsyncGenerator[LocalEngine, None]:
    engine = LocalEngine(LocalOptions(**{"context": 512, "minds": 2, "threads": 1, **options}))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


def send_signal(engine: LocalEngine, signal_number: int) -> None:
    assert engine.worker_pid is not None
    os.kill(engine.worker_pid, signal_number)


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGABRT])
async def test_a_reply_with_output_ends_with_an_error_and_is_not_repeated(
    signal_number: int,
) -> None:
    async with started_engine() as engine:
        stream = engine.generate(request("Tell me a long story.", max_tokens=400))
        assert (await anext(stream)).text
        send_signal(engine, signal_number)
        with pytest.raises(EngineDied, match="Try again"):
            await drain(stream)
        assert (await listen(engine, request("Still there?")))[0]


async def test_a_reply_without_output_is_generated_by_the_next_worker() -> None:
    async with started_engine(minds=1) as engine:
        first = engine.generate(request("Tell me a long story.", max_tokens=400))
        assert (await anext(first)).text
        second = asyncio.create_task(
            listen(engine, request("What is the sea?"))
        )  # waits behind the first
        await asyncio.sleep(0.05)
        send_signal(engine, signal.SIGKILL)
        with pytest.raises(EngineDied):
            await drain(first)
        text, _ = await second
        assert text


async def test_a_request_during_a_restart_is_answered_by_the_next_worker() -> None:
    async with started_engine() as engine:
        send_signal(engine, signal.SIGKILL)
        for _ in range(3):
            assert (await listen(engine, request("Hello?")))[0]


async def test_tokens_are_counted_after_a_restart() -> None:
    async with started_engine() as engine:
        before = await engine.count(prompt("Hello?"))
        send_signal(engine, signal.SIGKILL)
        assert await engine.count(prompt("Hello?")) == before


async def test_a_failing_position_callback_does_not_affect_replies() -> None:
    async with started_engine(minds=1) as engine:
        waits = request("Who waits?", max_tokens=4, on_queue_position=[].index)
        replies = await asyncio.gather(
            listen(engine, request("Who comes first?", max_tokens=4)), listen(engine, waits)
        )
        assert len(replies) == 2


async def test_a_hung_worker_is_killed_and_restarted() -> None:
    async with started_engine(hung_after=1.5) as engine:
        before = engine.worker_pid
        send_signal(engine, signal.SIGSTOP)
        async with asyncio.timeout(60):
            assert (await listen(engine, request("Hello?")))[0]
        assert engine.worker_pid != before


async def test_requests_fail_if_the_worker_cannot_be_restarted(tmp_path: Path) -> None:
    model = tmp_path / "gone.gguf"
    shutil.copyfile(find_model("demo").path, model)
    async with started_engine(model=str(model), ready_within=1.0) as engine:
        model.unlink()
        send_signal(engine, signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(EngineDied):
                await listen(engine, request("Hello?"))


async def test_closing_ends_the_worker_and_its_replies() -> None:
    async with started_engine() as engine:
        worker = engine.worker_pid
        reply = asyncio.create_task(
            listen(engine, request("Tell me a long story.", max_tokens=400))
        )
        await asyncio.sleep(0.2)
        await engine.close()
        await engine.close()
        with pytest.raises(EngineDied, match="shut down"):
            await reply
        assert not is_alive(worker)
        with pytest.raises(EngineStartError):
            await engine.count(prompt("Hello?"))


BOT = """
import asyncio, sys
from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from tests.engine.sample_prompts import request

async def main():
    engine = LocalEngine(LocalOptions(context=512, minds=1, threads=1))
    await engine.start()
    async for chunk in engine.generate(request("Tell me a long story.", max_tokens=400)):
        print(engine.worker_pid, flush=True)

asyncio.run(main())
"""


async def test_the_worker_dies_with_a_killed_bot() -> None:
    bot = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BOT, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert bot.stdout is not None
    worker = int(await bot.stdout.readline())
    assert is_alive(worker)
    bot.kill()
    await bot.wait()
    for _ in range(100):
        if not is_alive(worker):
            return
        await asyncio.sleep(0.05)
    pytest.fail("the worker is still alive five seconds after the bot was killed")


def find_children() -> set[int]:
    """Return the process ids of this process's children."""
    threads = Path("/proc/self/task").iterdir()
    lists = [(thread / "children").read_text(encoding="ascii").split() for thread in threads]
    return {int(pid) for pids in lists for pid in pids}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("signal_number", "change"),
    [
        (signal.SIGABRT, "Flash attention failed and was switched off."),
        (signal.SIGKILL, "Memory ran out, so a smaller plan was used"),
    ],
)
async def test_a_worker_that_crashes_while_it_loads_loads_in_another_way(
    signal_number: int, change: str
) -> None:
    before = find_children()
    engine = LocalEngine(LocalOptions(threads=1))
    starting = asyncio.create_task(engine.start())
    for _ in range(2000):
        if started := find_children() - before:
            break
        await asyncio.sleep(0.01)
    os.kill(started.pop(), signal_number)
    await starting
    try:
        assert engine.info.warning
        assert engine.info.warning.startswith(change)
        assert (await listen(engine, request("Hello?", max_tokens=4)))[0]
    finally:
        await engine.close()


async def drain(stream: AsyncGenerator[Chunk, None]) -> None:
    async for _ in stream:
        pass


def is_alive(pid: int | None) -> bool:
    """Return whether a process runs. A zombie does not."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
            != "Z"
        )
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS as on Linux")
async def test_a_smaller_plan_is_used_and_reported_if_memory_runs_out() -> None:
    loading = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.engine.load_in_little_memory",
        "550",
        "20",
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await loading.communicate()
    loaded, failed = out.decode().splitlines()
    plan, warning = loaded.split(" | ")
    assert "2 minds of 8,192 tokens" in plan
    assert warning == f"Memory ran out, so a smaller plan was used: {plan}."
    assert failed.startswith(
        "Memory ran out even for the smallest plan (on the CPU, 1 mind of 4,096 tokens"
    )
