"""An event loop in a thread of its own, while the main thread reads the keyboard.

Reading a line blocks, and only the main thread receives Ctrl-C.
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

_SIGNAL_POLL = 0.2  # seconds between two checks for a signal


class LoopThread:
    """An event loop in a thread, as a context manager. Leaving it cancels the remaining tasks."""

    def __init__(self) -> None:
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name="event loop"
        )
        self._loop: Future[asyncio.AbstractEventLoop] = Future()
        self._closing = asyncio.Event()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop. Return its result or raise its error.

        Ctrl-C cancels the coroutine, waits for its end and raises KeyboardInterrupt.
        """
        loop = self._loop.result()
        outcome: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(loop.create_task(work))
            tasks[0].add_done_callback(lambda task: _copy_outcome(task, outcome))

        loop.call_soon_threadsafe(begin)
        try:
            while not outcome.done():  # a signal in another thread doesn't wake this one
                wait((outcome,), timeout=_SIGNAL_POLL)
        except (KeyboardInterrupt, SystemExit):
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())
            wait((outcome,))
            raise
        return outcome.result()

    @contextmanager
    def enter(self, context: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter an async context on the loop. Leave it even if another Ctrl-C comes."""
        entered = self.run(_coroutine(context.__aenter__()))
        try:
            yield entered
        finally:
            with ignore_interrupts():
                self.run(_coroutine(context.__aexit__(None, None, None)))

    async def _serve(self) -> None:
        self._loop.set_result(asyncio.get_running_loop())
        await self._closing.wait()

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
        self._loop.result().call_soon_threadsafe(self._closing.set)
        self._thread.join()


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C inside the context. Call it only from the main thread."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def _coroutine(work: Awaitable[T]) -> T:
    return await work


def _copy_outcome(task: asyncio.Task[T], outcome: Future[T]) -> None:
    if task.cancelled():
        outcome.set_exception(asyncio.CancelledError())
    elif error := task.exception():
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())
