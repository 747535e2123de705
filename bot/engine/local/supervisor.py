"""Keeps a worker running: starts it, detects a crash or hang, and restarts it with backoff."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from typing import TYPE_CHECKING, Protocol

from bot.engine.local.worker_handle import WorkerHandle
from bot.engine.local.worker_messages import Heartbeat, LoadFailed, Ready
from bot.errors import EngineError, EngineStartError, ModelFileError

if TYPE_CHECKING:
    from bot.engine.local.worker_messages import Command, Event, Load

log = logging.getLogger(__name__)

_OUT_OF_MEMORY = re.compile(r"out of memory|failed to allocate", re.IGNORECASE)
_CHECK_SECONDS = 0.5  # between two checks of a worker's silence
_STARTUP_SECONDS = 60.0  # extra time for the first heartbeat, needed on a busy machine
_MAX_BACKOFF = 30.0  # seconds
_MAX_STEPS = 4  # more modest ways to load a model, before its crash is an error
_SIGKILL = 9  # sent by Linux if memory runs out
_STABLE_SECONDS = 60.0  # lifetime of a worker after which its death resets the backoff


class WorkerListener(Protocol):
    """Receives the state of the workers. Called on the event loop; must not block."""

    def on_ready(self, ready: Ready) -> None:
        """A worker accepts commands through `Supervisor.send`."""
        ...

    def on_event(self, event: Event) -> None:
        """A worker reports on a reply or a count."""
        ...

    def on_worker_exit(self, reason: str) -> None:
        """A worker died with all its replies, or could not start. Another one will be started."""
        ...


class Supervisor:
    """Owns the worker process and the task that reads its events.

    Call `start` and `close` once each.
    """

    def __init__(
        self, load: Load, listener: WorkerListener, *, hung_after: float, step_limit: float
    ) -> None:
        self._load = load
        self._listener = listener
        self._hung_after = hung_after
        self._step_limit = step_limit
        self._worker: WorkerHandle | None = None
        self._is_ready = False
        self._silent_seconds = 0.0
        self._kill_reason = ""
        self._steps_down = False  # whether the next worker loads the model in another way
        self._task: asyncio.Task[None] | None = None
        self._first_ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()

    @property
    def pid(self) -> int | None:
        """Process id of the current worker, or None between two workers."""
        return self._worker.pid if self._worker else None

    @property
    def is_ready(self) -> bool:
        """Whether the worker accepts commands."""
        return self._is_ready

    async def start(self) -> Ready:
        """Start the first worker and return its Ready event.

        Raises ModelFileError or EngineStartError.
        """
        self._task = asyncio.create_task(self._run(), name="supervisor of the local engine")
        try:
            return await asyncio.shield(self._first_ready)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End the worker and the task."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        if self._first_ready.done() and not self._first_ready.cancelled():
            self._first_ready.exception()  # marks it as retrieved; `start` has raised it

    def send(self, command: Command) -> None:
        """Send a command to the worker if it is ready."""
        if self._worker and self._is_ready:
            self._worker.send(command)

    async def _run(self) -> None:
        deaths = 0
        while True:
            started = time.monotonic()
            reason = await self._run_worker()
            if not self._first_ready.done():
                if self._steps_down:
                    log.warning("%s Trying a more modest way to load the model.", reason)
                    continue
                self._first_ready.set_exception(reason)
                return
            deaths = 1 if time.monotonic() - started > _STABLE_SECONDS else deaths + 1
            pause = min(_MAX_BACKOFF, 0.25 * 2**deaths) if deaths > 1 else 0.0
            log.warning("%s Restarting it%s.", reason, f" in {pause:g} seconds" if pause else "")
            await asyncio.sleep(pause)

    async def _run_worker(self) -> EngineError:
        """Run one worker until it exits, and return the reason as an error."""
        try:
            worker = await WorkerHandle.spawn()
        except OSError as error:
            return EngineStartError(
                f"The model's worker process cannot be started ({error.strerror or error})."
            )
        self._worker, self._silent_seconds, self._kill_reason = worker, -_STARTUP_SECONDS, ""
        watchdog = asyncio.create_task(self._watch(worker), name="watchdog of the worker")
        failure: EngineError | None = None
        try:
            worker.send(self._load)
            async with contextlib.aclosing(worker.events()) as events:
                async for event in events:
                    failure = self._handle(event) or failure
        except ValueError:
            failure = EngineStartError(
                "The model's worker sent an invalid message. Reinstall Aside."
            )
        finally:
            was_ready = self._is_ready
            self._worker, self._is_ready = None, False
            watchdog.cancel()
            status = await worker.terminate()
        self._steps_down = False
        if not failure and not self._kill_reason and status:
            self._step_down(status, worker.recent_stderr, was_ready=was_ready)
        reason = failure or EngineStartError(self._describe_exit(status))
        if self._first_ready.done():
            self._listener.on_worker_exit(str(reason))
        return reason

    def _step_down(self, status: int, stderr: str, *, was_ready: bool) -> None:
        """Make the next worker skip what has crashed this one, unless it crashed by its work."""
        load = self._load
        killed_while_loading = status == -_SIGKILL and not was_ready
        ran_out = killed_while_loading or bool(_OUT_OF_MEMORY.search(stderr))
        if load.skip_plans + load.skip_choices >= _MAX_STEPS:
            return
        if ran_out:
            self._load = load.model_copy(update={"skip_plans": load.skip_plans + 1})
        elif not was_ready:
            self._load = load.model_copy(update={"skip_choices": load.skip_choices + 1})
        self._steps_down = self._load is not load

    def _handle(self, event: Event) -> EngineError | None:
        """Process an event. Return the error that it reports, if any."""
        self._silent_seconds = 0.0
        match event:
            case Heartbeat():
                if event.step_seconds > self._step_limit:
                    self._kill(f"took more than {self._step_limit:g} seconds for one step")
            case Ready():
                self._is_ready = True
                if not self._first_ready.done():
                    self._first_ready.set_result(event)
                self._listener.on_ready(event)
            case LoadFailed():
                return (ModelFileError if event.fault == "file" else EngineStartError)(event.text)
            case _:
                self._listener.on_event(event)
        return None

    async def _watch(self, worker: WorkerHandle) -> None:
        """Kill a silent worker.

        Silence is counted in ticks of this loop, since the worker is not to blame if the bot's own
        event loop was blocked.
        """
        while worker is self._worker:
            await asyncio.sleep(_CHECK_SECONDS)
            self._silent_seconds += _CHECK_SECONDS
            if self._silent_seconds > self._hung_after:
                self._kill(f"sent no heartbeat for {self._hung_after:g} seconds")

    def _kill(self, reason: str) -> None:
        if self._worker:
            self._kill_reason = reason
            self._worker.kill()

    def _describe_exit(self, status: int) -> str:
        if self._kill_reason:
            return f"The model's worker {self._kill_reason} and was killed."
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        hint = " (out of memory?)" if status == -9 else ""
        return f"The model's worker {how}{hint}."
