"""The event loop behind the keyboard."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bot.terminal.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def test_run_returns_the_result_from_the_loop_thread() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    with LoopThread() as loop:
        assert loop.run(work()) == "event loop"


def test_run_raises_the_coroutines_error() -> None:
    async def work() -> None:
        raise LookupError("gone")

    with LoopThread() as loop, pytest.raises(LookupError, match="gone"):
        loop.run(work())


def test_ctrl_c_cancels_the_coroutine_and_waits_for_its_end() -> None:
    ended: list[str] = []

    async def work() -> None:
        asyncio.get_running_loop().call_later(0.05, signal.raise_signal, signal.SIGINT)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            ended.append("work")

    with LoopThread() as loop:
        with pytest.raises(KeyboardInterrupt):
            loop.run(work())
        assert ended == ["work"]


def test_a_second_ctrl_c_does_not_stop_the_cleanup() -> None:
    left: list[str] = []

    @asynccontextmanager
    async def something() -> AsyncIterator[str]:
        yield "here"
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.05)
        left.append("left")

    with LoopThread() as loop:
        with pytest.raises(KeyboardInterrupt), loop.enter(something()):
            signal.raise_signal(signal.SIGINT)
        assert left == ["left"]


def test_leaving_the_loop_thread_cancels_its_tasks() -> None:
    async def work() -> asyncio.Task[None]:
        return asyncio.create_task(asyncio.sleep(60))

    with LoopThread() as loop:
        task = loop.run(work())
    assert task.cancelled()
    assert "event loop" not in [thread.name for thread in threading.enumerate()]
