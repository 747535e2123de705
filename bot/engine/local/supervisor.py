"""Keeps a worker alive: starts it, notices that it died or hangs, and starts the next one after a pause that grows."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from typing import TYPE_CHECKING, Protocol

from bot.engine.local.worker_messages import Heartbeat, LoadFailed, Ready
from bot.engine.local.worker_process import WorkerProcess
from bot.errors import EngineError, EngineStartError, ModelFileError

if TYPE_CHECKING:
    from bot.engine.local.worker_messages import Command, Event, Load

log = logging.getLogger(__name__)

_NO_MEMORY = re.compile(r"out of memory|failed to allocate", re.IGNORECASE)
_TICK = 0.5  # seconds between two looks at a worker
_BIRTH = 60.0  # seconds that a worker may take, on a busy machine, until its first sign of life
_LONGEST_PAUSE = 30.0
_SOUND_LIFE = 60.0  # seconds after which a worker's death is no longer held against the next one


class WorkerListener(Protocol):
    """Who hears what happens to the workers. Called on the event loop, never to wait."""

    def came_up(self, ready: Ready) -> None:
        """A worker is ready for commands, which `Supervisor.send` takes."""
        ...

    def heard(self, event: Event) -> None:
        """A worker has told something about a reply or a count."""
        ...

    def went_down(self, why: str) -> None:
        """A worker is gone, with all it was doing, or has not come up. Another one will be tried."""
        ...


class Supervisor:
    """Owns the worker process and the task that reads from it. `start` and `close` are called once each."""

    def __init__(
        self, load: Load, audience: WorkerListener, *, hung_after: float, step_limit: float
    ) -> None:
        self._load = load
        self._audience = audience
        self._hung_after = hung_after
        self._step_limit = step_limit
        self._worker: WorkerProcess | None = None
        self._up = False
        self._silent = 0.0
        self._kill_reason = ""
        self._task: asyncio.Task[None] | None = None
        self._first: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()

    @property
    def pid(self) -> int | None:
        """Process id of the worker there is, if any."""
        return self._worker.pid if self._worker else None

    @property
    def up(self) -> bool:
        """Whether commands are taken."""
        return self._up

    async def start(self) -> Ready:
        """Start the first worker and return what it says of itself. Raises ModelFileError or EngineStartError."""
        self._task = asyncio.create_task(self._serve(), name="supervisor of the local engine")
        try:
            return await asyncio.shield(self._first)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End the worker and everything about it."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        if self._first.done() and not self._first.cancelled():
            self._first.exception()  # has been raised by `start`, or nobody waits

    def send(self, command: Command) -> None:
        """Send a command to the worker, which must be up."""
        if self._worker and self._up:
            self._worker.send(command)

    async def _serve(self) -> None:
        deaths = 0
        while True:
            born = time.monotonic()
            why = await self._one_life()
            if not self._first.done():
                self._first.set_exception(why)
                return
            deaths = 1 if time.monotonic() - born > _SOUND_LIFE else deaths + 1
            pause = min(_LONGEST_PAUSE, 0.25 * 2**deaths) if deaths > 1 else 0.0
            log.warning("%s It is started again%s.", why, f" in {pause:g} seconds" if pause else "")
            await asyncio.sleep(pause)

    async def _one_life(self) -> EngineError:
        """Run one worker to its end, and return why it ended."""
        try:
            worker = await WorkerProcess.spawn()
        except OSError as error:
            return EngineStartError(
                f"The model's worker process can't be started ({error.strerror or error})."
            )
        self._worker, self._silent, self._kill_reason = worker, -_BIRTH, ""
        watching = asyncio.create_task(self._watch(worker), name="watch over the worker")
        failure: EngineError | None = None
        try:
            worker.send(self._load)
            async with contextlib.aclosing(worker.events()) as events:
                async for event in events:
                    failure = self._hear(event) or failure
        except ValueError:
            failure = EngineStartError(
                "The model's worker said what can't be understood: reinstall Aside."
            )
        finally:
            self._worker, self._up = None, False
            watching.cancel()
            status = await worker.end()
        if not failure and _NO_MEMORY.search(worker.last_words):
            self._load = self._load.model_copy(update={"smaller": self._load.smaller + 1})
        why = failure or EngineStartError(self._obituary(status))
        if self._first.done():
            self._audience.went_down(str(why))
        return why

    def _hear(self, event: Event) -> EngineError | None:
        self._silent = 0.0
        match event:
            case Heartbeat():
                if event.step_seconds > self._step_limit:
                    self._kill(f"took more than {self._step_limit:g} seconds for one step")
            case Ready():
                self._up = True
                if not self._first.done():
                    self._first.set_result(event)
                self._audience.came_up(event)
            case LoadFailed():
                return (ModelFileError if event.fault == "file" else EngineStartError)(event.text)
            case _:
                self._audience.heard(event)
        return None

    async def _watch(self, worker: WorkerProcess) -> None:
        """Count silence in ticks of this loop, so that a bot that was held up itself blames nobody."""
        while worker is self._worker:
            await asyncio.sleep(_TICK)
            self._silent += _TICK
            if self._silent > self._hung_after:
                self._kill(f"gave no sign of life for {self._hung_after:g} seconds")

    def _kill(self, reason: str) -> None:
        if self._worker:
            self._kill_reason = reason
            self._worker.kill()

    def _obituary(self, status: int) -> str:
        if self._kill_reason:
            return f"The model's worker {self._kill_reason} and was ended."
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        hint = " (out of memory?)" if status == -9 else ""
        return f"The model's worker {how}{hint}."
