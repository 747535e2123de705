"""The local engine: sends requests to the worker and streams the replies back.

If the worker dies, a reply without output is generated again, once, by the next worker. A reply
that has already produced text ends with EngineDied, so that no text is shown twice.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

from bot.engine.local.local_options import LocalOptions
from bot.engine.local.model_info import build_info
from bot.engine.local.reply_stream import WorkerReply
from bot.engine.local.supervisor import Supervisor
from bot.engine.local.worker_messages import (
    Cancel,
    Count,
    Counted,
    Failed,
    Finished,
    Generate,
    Generated,
    Load,
    Prefetch,
    QueuePosition,
    Started,
)
from bot.errors import EngineBusy, EngineDied, EngineError, EngineStartError
from bot.her.prompt import Control, Prompt, Text
from bot.weights import find_model, gguf_reader

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.local.worker_messages import Event, Ready
    from bot.engine.protocol import Chunk, EngineInfo, Request
    from bot.weights.find_model import ModelSource
    from bot.weights.hub import Progress

_MAX_SEED = 2**32 - 1


class LocalEngine:
    """An Engine that runs llama.cpp in a child process.

    `progress` is called from another thread while the model is downloaded. If the queue is full,
    further requests of a guild that already has one in it are refused with EngineBusy.
    """

    def __init__(
        self, options: LocalOptions | None = None, *, progress: Progress | None = None
    ) -> None:
        self._options = options or LocalOptions()
        self._progress = progress
        self._ids = itertools.count(1)
        self._streams: dict[int, WorkerReply] = {}
        self._counts: dict[int, tuple[Count, asyncio.Future[int]]] = {}
        self._supervisor: Supervisor | None = None
        self._starting = asyncio.Lock()
        self._source: ModelSource | None = None
        self._info: EngineInfo | None = None
        self._restart_timer: asyncio.TimerHandle | None = None
        self._unavailable = ""  # the error of all requests while the worker cannot be restarted
        self._exit_reason = ""

    @property
    def info(self) -> EngineInfo:
        """The model and where it runs. Raises EngineStartError before `start` has succeeded."""
        if not self._info:
            raise EngineStartError("The model has not been started.")
        return self._info

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker, or None during a restart."""
        return self._supervisor.pid if self._supervisor else None

    async def start(self) -> None:
        """Find, check and load the model.

        Raises NameNotFound, WeightsError, ModelFileError or EngineStartError.
        """
        async with self._starting:
            if self._supervisor:
                return
            options = self._options
            source = await asyncio.to_thread(
                find_model.find_model,
                options.model,
                folder=options.weights,
                progress=self._progress,
            )
            await asyncio.to_thread(gguf_reader.check_model, source.path)
            supervisor = Supervisor(
                self._build_load(source),
                self,
                hung_after=self._options.hung_after,
                step_limit=self._options.step_limit,
            )
            self._source = source
            await supervisor.start()
            self._supervisor = supervisor

    async def close(self) -> None:
        """End the worker. Active replies end with EngineDied."""
        async with self._starting:
            supervisor, self._supervisor = self._supervisor, None
            self._clear_restart()
            self._fail_all(EngineDied("The model was shut down."))
            if supervisor:
                await supervisor.close()

    async def count(self, prompt: Prompt) -> int:
        """Return how many tokens `prompt` has. Raises EngineDied if the worker does not restart."""
        supervisor = self._require_supervisor()
        command = Count(id=next(self._ids), parts=_build_parts(prompt))
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._counts[command.id] = (command, answer)
        try:
            supervisor.send(command)
            return await answer
        finally:
            del self._counts[command.id]

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream one reply. See `Engine.generate`."""
        self._require_acceptable(request)
        stream = WorkerReply(self._build_generate(request), request.on_queue_position)
        self._streams[stream.command.id] = stream
        try:
            self._send(stream)
            async for chunk in stream.chunks():
                yield chunk
        finally:
            del self._streams[stream.command.id]
            if stream.sent and not stream.ended and self._supervisor:
                self._supervisor.send(Cancel(id=stream.command.id))

    def prefetch(self, mind: str, prompt: Prompt) -> None:
        """Prefill a mind's next prompt when idle. See `PrefetchingEngine.prefetch`."""
        if self._supervisor:
            self._supervisor.send(
                Prefetch(mind=_replace_surrogates(mind), parts=_build_parts(prompt))
            )

    # WorkerListener

    def on_ready(self, ready: Ready) -> None:
        """Send all waiting requests to the new worker."""
        assert self._source is not None  # noqa: S101 - set before the worker starts
        self._info = build_info(ready, self._options, self._source)
        self._clear_restart()
        if self._supervisor:
            for command, _ in self._counts.values():
                self._supervisor.send(command)
        for stream in self._streams.values():
            self._send(stream)

    def on_event(self, event: Event) -> None:
        """Pass an event to the request that it belongs to."""
        match event:
            case Counted():
                if (count := self._counts.get(event.id)) and not count[1].done():
                    count[1].set_result(event.tokens)
            case Started() | QueuePosition() | Generated() | Finished() | Failed():
                if stream := self._streams.get(event.id):
                    stream.receive(event)

    def on_worker_exit(self, reason: str) -> None:
        """Keep the replies without output for the next worker, and end the others."""
        died = EngineDied(f"{reason} The reply was lost. Try again.")
        for stream in self._streams.values():
            stream.handle_worker_exit(died)
        self._exit_reason = reason
        if self._unavailable:
            self._fail_waiting()
        elif not self._restart_timer:
            self._restart_timer = asyncio.get_running_loop().call_later(
                self._options.ready_within, self._fail_waiting
            )

    def _fail_waiting(self) -> None:
        """Fail all requests, since the next worker takes too long to start."""
        self._unavailable = f"{self._exit_reason} It is being restarted. Try again later."
        self._fail_all(EngineDied(self._unavailable))

    def _clear_restart(self) -> None:
        self._unavailable = self._exit_reason = ""
        if self._restart_timer:
            self._restart_timer.cancel()
            self._restart_timer = None

    def _fail_all(self, error: EngineDied) -> None:
        for stream in self._streams.values():
            stream.fail(error)
        for _, answer in self._counts.values():
            if not answer.done():
                answer.set_exception(error)

    def _require_supervisor(self) -> Supervisor:
        if not self._supervisor:
            raise EngineStartError("The model has not been started, or was shut down.")
        if self._unavailable:
            raise EngineDied(self._unavailable)
        return self._supervisor

    def _require_acceptable(self, request: Request) -> None:
        self._require_supervisor()
        if not 0 <= request.seed <= _MAX_SEED:
            raise EngineError(
                f"The seed {request.seed} is out of range. Use a whole number up to {_MAX_SEED}."
            )
        if request.max_tokens < 1:
            raise EngineError("max_tokens must be at least 1.")
        if request.background:  # it has a queue of its own
            return
        replies = [one.command for one in self._streams.values() if not one.command.background]
        is_full = len(replies) >= self.info.minds + self._options.queue
        guilds = {reply.guild for reply in replies}
        # Other guilds are not refused, so that one guild cannot keep them out.
        if is_full and _replace_surrogates(request.guild) in guilds:
            raise EngineBusy(f"The queue is full with {len(replies)} replies. Try again later.")

    def _send(self, stream: WorkerReply) -> None:
        if self._supervisor and self._supervisor.is_ready and not stream.sent:
            stream.sent = True
            self._supervisor.send(stream.command)

    def _build_load(self, source: ModelSource) -> Load:
        options = self._options
        return Load(
            path=str(source.path),
            name=source.title,
            context=options.context,
            minds=options.minds,
            gpu_layers=options.gpu_layers,
            cache_type=options.cache_type,
            rpc=options.rpc,
            host_memory=options.host_memory,
            flash_attention=options.flash_attention,
            threads=options.threads,
            check_memory=options.check_memory,
        )

    def _build_generate(self, request: Request) -> Generate:
        return Generate(
            id=next(self._ids),
            parts=_build_parts(request.prompt),
            prefill=_replace_surrogates(request.prompt.prefill),
            mind=_replace_surrogates(request.mind),
            guild=_replace_surrogates(request.guild),
            sampling=request.sampling or self.info.sampling,
            seed=request.seed,
            max_tokens=request.max_tokens,
            planning_tokens=request.planning_tokens,
            planning_closer=request.planning_closer,
            stop=tuple(map(_replace_surrogates, request.stop)),
            grammar=request.grammar and _replace_surrogates(request.grammar),
            speaker=_replace_surrogates(request.speaker),
            reproducible=request.reproducible,
            background=request.background,
        )


def _build_parts(prompt: Prompt) -> tuple[Control | Text, ...]:
    return tuple(
        Text(_replace_surrogates(part.text)) if isinstance(part, Text) else part
        for part in prompt.parts
    )


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON cannot represent."""
    return text.encode("utf-8", "replace").decode()
