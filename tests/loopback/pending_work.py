"""Work that the event loop has handed to threads and other connections, read from its tasks."""

from __future__ import annotations

import asyncio
import gc
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Any

import aiohttp.client
import aiosqlite.core

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

IN_A_THREAD = frozenset({asyncio.to_thread.__code__.co_filename, aiosqlite.core.__file__})
REQUESTING = aiohttp.ClientSession._request.__code__  # which covers connecting too


def has_pending_work() -> bool:
    """Return whether a task of this loop waits for a thread, the database or an HTTP response.

    Such a task continues without any new event from outside. A task that waits for a queue, an
    event or a message of the gateway does not.
    """
    return any(_is_working(task) for task in asyncio.all_tasks())


def _is_working(task: asyncio.Task[Any]) -> bool:
    codes = list(_await_chain(task.get_coro()))
    return REQUESTING in codes or bool(codes and codes[-1].co_filename in IN_A_THREAD)


def _await_chain(waiting: Any) -> Iterator[CodeType]:
    """Yield the code of a coroutine and of everything it awaits, outermost first."""
    while waiting is not None:
        match waiting:
            case CoroutineType():
                yield waiting.cr_code
                waiting = waiting.cr_await
            case AsyncGeneratorType():
                yield waiting.ag_code
                waiting = waiting.ag_await
            case GeneratorType():
                yield waiting.gi_code
                waiting = waiting.gi_yieldfrom
            case _:  # the wrapper of `async for` or `__await__`, or the future at the end
                inner = (CoroutineType, AsyncGeneratorType, GeneratorType)
                referents = [] if asyncio.isfuture(waiting) else gc.get_referents(waiting)
                waiting = next((each for each in referents if isinstance(each, inner)), None)
