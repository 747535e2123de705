"""The local engine, as the bot sees it: requests in, streams out, whatever becomes of the worker behind them.

What is promised when a worker dies: a reply of which nothing was handed on yet is written once more, from its prompt,
by the next worker; one that had begun to show ends with EngineDied, so that no text is ever shown twice.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

from bot.engine.local.local_options import LocalOptions
from bot.engine.local.reply_stream import ReplyStream
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
from bot.engine.protocol import Dialect, EngineInfo, Sampling
from bot.errors import EngineBusy, EngineDied, EngineError, EngineStartError
from bot.her.prompt import Control, Prompt, Text
from bot.weights import find_model, gguf_reader

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.local.worker_messages import Event, Ready
    from bot.engine.protocol import Chunk, Request
    from bot.weights.find_model import ModelSource
    from bot.weights.hub import Progress

_LARGEST_SEED = 2**32 - 1


class LocalEngine:
    """An Engine that runs llama.cpp in a child process.

    `progress` hears of weights being fetched, from another thread.
    """

    def __init__(
        self, options: LocalOptions | None = None, *, progress: Progress | None = None
    ) -> None:
        self._options = options or LocalOptions()
        self._progress = progress
        self._ids = itertools.count(1)
        self._streams: dict[int, ReplyStream] = {}
        self._counts: dict[int, tuple[Count, asyncio.Future[int]]] = {}
        self._supervisor: Supervisor | None = None
        self._starting = asyncio.Lock()
        self._source: ModelSource | None = None
        self._info: EngineInfo | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._given_up = ""
        self._last_fault = ""

    @property
    def info(self) -> EngineInfo:
        """What runs, where. Raises EngineStartError before `start` has ended well."""
        if not self._info:
            raise EngineStartError("The model hasn't been started.")
        return self._info

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker, if there is one just now."""
        return self._supervisor.pid if self._supervisor else None

    async def start(self) -> None:
        """Find, check and load the model. Raises UnknownName, WeightsError, ModelFileError or EngineStartError."""
        async with self._starting:
            if self._supervisor:
                return
            options = self._options
            source = await asyncio.to_thread(
                find_model.resolve, options.model, folder=options.weights, progress=self._progress
            )
            await asyncio.to_thread(gguf_reader.check, source.path)
            supervisor = Supervisor(
                self._load(source),
                self,
                hung_after=self._options.hung_after,
                step_limit=self._options.step_limit,
            )
            self._source = source
            await supervisor.start()
            self._supervisor = supervisor

    async def close(self) -> None:
        """End the worker. Replies under way end with EngineDied."""
        async with self._starting:
            supervisor, self._supervisor = self._supervisor, None
            self._stop_waiting()
            self._end_all(EngineDied("The model was shut down."))
            if supervisor:
                await supervisor.close()

    async def count(self, prompt: Prompt) -> int:
        """Return how many tokens `prompt` has. Raises EngineDied where no worker comes up to be asked."""
        supervisor = self._running()
        order = Count(id=next(self._ids), parts=_parts(prompt))
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._counts[order.id] = (order, answer)
        try:
            supervisor.send(order)
            return await answer
        finally:
            del self._counts[order.id]

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream one reply; see Engine."""
        self._refuse(request)
        stream = ReplyStream(self._order(request), request.on_queue_position)
        self._streams[stream.order.id] = stream
        try:
            self._send(stream)
            async for piece in stream.pieces():
                yield piece
        finally:
            del self._streams[stream.order.id]
            if stream.sent and not stream.over and self._supervisor:
                self._supervisor.send(Cancel(id=stream.order.id))

    def prefetch(self, mind: str, prompt: Prompt) -> None:
        """Have the worker read, when it is idle, what a mind's next prompt will be; see Anticipating."""
        if self._supervisor:
            self._supervisor.send(Prefetch(mind=_clean(mind), parts=_parts(prompt)))

    # What the supervisor tells

    def came_up(self, ready: Ready) -> None:
        """A worker is ready: give it what waits."""
        self._info = self._describe(ready)
        self._stop_waiting()
        if self._supervisor:
            for order, _ in self._counts.values():
                self._supervisor.send(order)
        for stream in self._streams.values():
            self._send(stream)

    def heard(self, event: Event) -> None:
        """Hand an event on to who waits for it."""
        match event:
            case Counted():
                if (count := self._counts.get(event.id)) and not count[1].done():
                    count[1].set_result(event.tokens)
            case Started() | QueuePosition() | Generated() | Finished() | Failed():
                if stream := self._streams.get(event.id):
                    stream.put(event)

    def went_down(self, why: str) -> None:
        """The worker is gone: what had shown nothing yet is written again by the next one, the rest ends."""
        died = EngineDied(f"{why} The reply was lost; try again.")
        for stream in self._streams.values():
            stream.survive(died)
        self._last_fault = why
        if self._given_up:
            self._give_up()
        elif not self._patience:
            self._patience = asyncio.get_running_loop().call_later(
                self._options.ready_within, self._give_up
            )

    def _give_up(self) -> None:
        """The next worker takes too long: nobody shall wait for it any more."""
        self._given_up = f"{self._last_fault} It is tried again and again; ask later."
        self._end_all(EngineDied(self._given_up))

    def _stop_waiting(self) -> None:
        self._given_up = self._last_fault = ""
        if self._patience:
            self._patience.cancel()
            self._patience = None

    def _end_all(self, error: EngineDied) -> None:
        for stream in self._streams.values():
            stream.fail(error)
        for _, answer in self._counts.values():
            if not answer.done():
                answer.set_exception(error)

    def _running(self) -> Supervisor:
        if not self._supervisor:
            raise EngineStartError("The model hasn't been started, or was shut down.")
        if self._given_up:
            raise EngineDied(self._given_up)
        return self._supervisor

    def _refuse(self, request: Request) -> None:
        self._running()
        if not 0 <= request.seed <= _LARGEST_SEED:
            raise EngineError(
                f"A seed is a whole number from 0 to {_LARGEST_SEED}, not {request.seed}."
            )
        if request.max_tokens < 1:
            raise EngineError("A reply needs room for one token at least.")
        full = len(self._streams) >= self.info.minds + self._options.queue
        asks = {stream.order.guild for stream in self._streams.values()}
        if full and _clean(request.guild) in asks:  # one server's flood keeps no other server out
            raise EngineBusy(
                f"{len(self._streams)} replies are being written or wait already; try again later."
            )

    def _send(self, stream: ReplyStream) -> None:
        if self._supervisor and self._supervisor.up and not stream.sent:
            stream.sent = True
            self._supervisor.send(stream.order)

    def _load(self, source: ModelSource) -> Load:
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

    def _describe(self, ready: Ready) -> EngineInfo:
        source = self._source
        assert source is not None  # noqa: S101 - for the type checker
        return EngineInfo(
            kind="local",
            model=ready.model,
            dialect=self._options.dialect or Dialect(source.dialect),
            context=ready.context,
            device=ready.device,
            layers_offloaded=ready.layers_offloaded,
            layers=ready.layers,
            minds=ready.minds,
            memory=ready.memory,
            warning=ready.warning,
            stand_in=source.stand_in,
            sampling=self._options.sampling.apply_to(Sampling(**source.sampling.model_dump())),
            supports_grammar=True,
        )

    def _order(self, request: Request) -> Generate:
        return Generate(
            id=next(self._ids),
            parts=_parts(request.prompt),
            prefill=_clean(request.prompt.prefill),
            mind=_clean(request.mind),
            guild=_clean(request.guild),
            sampling=request.sampling or self.info.sampling,
            seed=request.seed,
            max_tokens=request.max_tokens,
            planning_tokens=request.planning_tokens,
            planning_closer=request.planning_closer,
            stop=tuple(map(_clean, request.stop)),
            grammar=request.grammar and _clean(request.grammar),
        )


def _parts(prompt: Prompt) -> tuple[Control | Text, ...]:
    return tuple(
        Text(_clean(part.text)) if isinstance(part, Text) else part for part in prompt.parts
    )


def _clean(text: str) -> str:
    """Half of a surrogate pair can't travel as JSON."""
    return text.encode("utf-8", "replace").decode()
