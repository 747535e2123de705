"""Where everything that waits is done, while the main thread belongs to the person at the keyboard.

Reading a line blocks, and Ctrl-C reaches the main thread only: so lines are read there, and the event loop has a
thread of its own.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Iterator
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

T = TypeVar("T")

_LOOK = 0.2  # seconds between two looks for a signal


class LoopThread:
    """An event loop in a thread. `with Backstage() as backstage:`; leaving it ends all that is still done there."""

    def __init__(self) -> None:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._stay()), name="backstage")
        self._loop: Future[asyncio.AbstractEventLoop] = Future()
        self._over = asyncio.Event()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do this and return what it returns, or raise what it raises.

        Where Ctrl-C comes meanwhile, the work is cancelled, and has ended when KeyboardInterrupt is raised.
        """
        loop = self._loop.result()
        outcome: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(loop.create_task(work))
            tasks[0].add_done_callback(lambda task: _hand_over(task, outcome))

        loop.call_soon_threadsafe(begin)
        try:
            while not outcome.done():  # a signal that reaches another thread doesn't wake this one
                wait((outcome,), timeout=_LOOK)
        except (KeyboardInterrupt, SystemExit):
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())
            wait((outcome,))
            raise
        return outcome.result()

    @contextmanager
    def entered(self, context: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter something here, and leave it whatever happens, undisturbed by another Ctrl-C."""
        entered = self.run(_coroutine(context.__aenter__()))
        try:
            yield entered
        finally:
            with ignore_interrupts():
                self.run(_coroutine(context.__aexit__(None, None, None)))

    async def _stay(self) -> None:
        self._loop.set_result(asyncio.get_running_loop())
        await self._over.wait()

    def __enter__(self) -> Self:
        self._thread.start()
        self._loop.result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.result().call_soon_threadsafe(self._over.set)
        self._thread.join()


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Let Ctrl-C do nothing for as long as the context lasts. For the main thread."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def _coroutine(work: Awaitable[T]) -> T:
    return await work


def _hand_over(task: asyncio.Task[T], outcome: Future[T]) -> None:
    if task.cancelled():
        outcome.set_exception(asyncio.CancelledError())
    elif error := task.exception():
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())
