"""The loop behind the keyboard."""

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


def test_work_is_done_and_its_result_handed_over() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    with LoopThread() as backstage:
        assert backstage.run(work()) == "backstage"


def test_what_work_raises_is_raised() -> None:
    async def work() -> None:
        raise LookupError("gone")

    with LoopThread() as backstage, pytest.raises(LookupError, match="gone"):
        backstage.run(work())


def test_ctrl_c_cancels_the_work_and_waits_for_its_end() -> None:
    ended: list[str] = []

    async def work() -> None:
        asyncio.get_running_loop().call_later(0.05, signal.raise_signal, signal.SIGINT)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            ended.append("work")

    with LoopThread() as backstage:
        with pytest.raises(KeyboardInterrupt):
            backstage.run(work())
        assert ended == ["work"]


def test_what_was_entered_is_left_though_ctrl_c_comes_again() -> None:
    left: list[str] = []

    @asynccontextmanager
    async def something() -> AsyncIterator[str]:
        yield "here"
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.05)
        left.append("left")

    with LoopThread() as backstage:
        with pytest.raises(KeyboardInterrupt), backstage.entered(something()):
            signal.raise_signal(signal.SIGINT)
        assert left == ["left"]


def test_nothing_goes_on_when_the_backstage_is_left() -> None:
    async def work() -> asyncio.Task[None]:
        return asyncio.create_task(asyncio.sleep(60))

    with LoopThread() as backstage:
        task = backstage.run(work())
    assert task.cancelled()
    assert "backstage" not in [thread.name for thread in threading.enumerate()]
