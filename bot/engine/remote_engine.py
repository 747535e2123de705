"""The remote engine: any OpenAI-compatible completions server, such as llama-server or vLLM.

The prompt is sent as text, so control tokens that people spell in it are made harmless before.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import aiohttp

from bot.engine.completions_client import CompletionsClient, ServedModel, Transient
from bot.engine.protocol import Chunk, Dialect, EngineInfo, Sampling
from bot.engine.remote_generation import RemoteGeneration, estimate
from bot.engine.server_pool import ServerPool
from bot.errors import EngineError, EngineStartError, PromptTooLong
from bot.her.prompt import Control
from bot.her.sanitise import escape_control_tokens

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.completions_client import Body, CompletionChunk
    from bot.engine.protocol import Request
    from bot.her.prompt import Prompt

_TRIES = 3
_USUAL_CONTEXT = 8192
_LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """Settings of the remote engine."""

    base_url: tuple[
        str, ...
    ]  # such as http://127.0.0.1:8080/v1; several servers of one model share the work
    model: str | None = None  # None: the only one that the server has
    dialect: Dialect = Dialect.HER
    sampling: Sampling = field(default_factory=Sampling)
    context: int | None = None  # tokens; None: what the server says
    api_key: str | None = field(default=None, repr=False)  # where the server wants one
    connect_timeout: float = 10.0  # seconds
    silence_timeout: float = 300.0  # seconds without a token, the first one included
    retry_pause: float = 0.5  # seconds before the second try, twice that before the third
    check_every: float = 15.0  # seconds between two looks at each of several servers
    grammar: bool = False  # send grammars along: llama-server takes them, most others don't


class RemoteEngine:
    """An Engine that asks completions servers."""

    def __init__(self, options: RemoteOptions) -> None:
        self._options = options
        self._servers: ServerPool | None = None
        self._session: aiohttp.ClientSession | None = None
        self._info: EngineInfo | None = None
        self._starting = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None

    @property
    def info(self) -> EngineInfo:
        """What runs, where. Raises EngineStartError before `start` has ended well."""
        if not self._info:
            raise EngineStartError("The completions server hasn't been asked yet.")
        return self._info

    async def start(self) -> None:
        """Look whether the servers answer and have the model. Raises EngineStartError where none does."""
        async with self._starting:
            if self._servers:
                return
            # No connection is used twice: llama-server closes those that idle, and a request that meets such a one
            # fails, which would look like a server that is down.
            connector = aiohttp.TCPConnector(force_close=True, limit=0)
            self._session = aiohttp.ClientSession(
                connector=connector, timeout=self._timeout(), headers=self._headers()
            )
            try:
                await self._meet(self._session)
            except BaseException:
                await self.close()
                raise

    async def close(self) -> None:
        """Close the connections. Replies under way end with EngineDied."""
        if self._watching:
            self._watching.cancel()
            await asyncio.wait((self._watching,))
            self._watching = None
        session, self._session = self._session, None
        servers, self._servers = self._servers, None
        for server in servers or ():
            server.client.hang_up()
        if session:
            await session.close()

    async def count(self, prompt: Prompt) -> int:
        """Return how many tokens `prompt` has; a cautious estimate where the server can't tell."""
        return await self._count(_harmless(prompt), "")

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream one reply; see Engine."""
        if not 0 <= request.seed <= _LARGEST_SEED:
            raise EngineError(
                f"A seed is a whole number from 0 to {_LARGEST_SEED}, not {request.seed}."
            )
        prompt = _harmless(request.prompt)
        prompt_tokens = await self._measure(request, prompt)
        reply = RemoteGeneration(request)
        while not reply.ended:
            async with contextlib.aclosing(
                self._ask(request, prompt, prompt_tokens, reply)
            ) as pieces:
                async for piece in pieces:
                    if text := reply.take(piece):
                        yield Chunk(text)
                    if reply.must_close or reply.stopped:
                        break
            if reply.must_close:
                yield Chunk(reply.close_planning())
        yield Chunk(reply.rest(), reply.finish(prompt_tokens))

    async def _measure(self, request: Request, prompt: str) -> int:
        """Tokens of the prompt, counted by the server only where an estimate leaves doubt that all fits."""
        tokens = estimate(prompt)
        if tokens + request.max_tokens > self.info.context:
            tokens = await self._count(prompt, request.mind)
        if tokens >= self.info.context:
            raise PromptTooLong(
                f"The prompt has {tokens:,} tokens, but the context holds {self.info.context:,} with the reply."
            )
        return tokens

    async def _ask(
        self, request: Request, prompt: str, prompt_tokens: int, reply: RemoteGeneration
    ) -> AsyncGenerator[CompletionChunk, None]:
        """One request, tried on another server, or again, only as long as nothing has come of the reply."""
        servers = self._running()
        room = min(reply.room, max(1, self.info.context - prompt_tokens - estimate(reply.text)))
        body = self._body(request, prompt + escape_control_tokens(reply.text), room)
        for attempt in range(_TRIES):
            server = servers.pick(request.mind)
            began = False
            try:
                with server.work():
                    async with contextlib.aclosing(server.client.complete(body)) as pieces:
                        async for piece in pieces:
                            began = began or bool(piece.text)
                            yield piece
            except Transient as error:
                servers.failed(server)
                if began or servers is not self._servers or attempt == _TRIES - 1:
                    raise error.as_engine_error() from error
                await asyncio.sleep(self._options.retry_pause * 2**attempt)
            else:
                return

    def _body(self, request: Request, prompt: str, room: int) -> Body:
        sampling = request.sampling or self._options.sampling
        body: Body = {
            "model": self.info.model,
            "prompt": prompt,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": room,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": request.seed,
            "stop": list(request.stop),
        }
        # Not of OpenAI's: sent only where they say something. Both spellings of the penalty are in use.
        if sampling.top_k:
            body["top_k"] = sampling.top_k
        if sampling.min_p:
            body["min_p"] = sampling.min_p
        if sampling.repeat_penalty != 1.0:
            body["repeat_penalty"] = body["repetition_penalty"] = sampling.repeat_penalty
        if sampling.dry:
            body["dry_multiplier"] = sampling.dry
        if request.grammar and self._options.grammar:
            body["grammar"] = request.grammar
        return body

    async def _count(self, text: str, mind: str) -> int:
        client = self._running().pick(mind).client
        try:
            counted = await client.count(self.info.model, text)
        except Transient as error:
            raise error.as_engine_error() from error
        return estimate(text) if counted is None else counted

    async def _meet(self, session: aiohttp.ClientSession) -> None:
        """Ask every server what it has; those that don't answer are left alone for a while."""
        servers = ServerPool(
            [CompletionsClient(session, url) for url in self._options.base_url],
            rest=self._options.check_every,
        )
        met = await asyncio.gather(
            *(self._greet(server.client) for server in servers), return_exceptions=True
        )
        models = [answer for answer in met if isinstance(answer, ServedModel)]
        faults = [answer for answer in met if isinstance(answer, BaseException)]
        for server, answer in zip(servers, met, strict=True):
            if isinstance(answer, BaseException):
                servers.failed(server)
        if not models:
            fault = (
                faults[0]
                if faults
                else EngineStartError("No completions server is named: set base_url.")
            )
            raise EngineStartError(str(fault)) from fault
        names = list(dict.fromkeys(model.name for model in models))
        if len(names) > 1:
            raise EngineStartError(
                f"The completions servers have different models: {', '.join(names)}. Name one."
            )
        contexts = [model.context for model in models if model.context]
        self._servers = servers
        if len(met) > 1:
            watch = servers.watch(self._greet, self._options.connect_timeout)
            self._watching = asyncio.create_task(watch, name="watch over the completions servers")
        self._info = EngineInfo(
            kind="remote",
            model=models[0].name,
            dialect=self._options.dialect,
            context=self._options.context or min(contexts, default=_USUAL_CONTEXT),
            device=", ".join(str(server.client) for server in servers),
            warning=" ".join(map(str, faults)) or None,
            sampling=self._options.sampling,
            supports_grammar=self._options.grammar,
        )

    async def _greet(self, client: CompletionsClient) -> ServedModel:
        """The model that a server has for us, with its context."""
        served = await client.models()
        names = [model.name for model in served]
        wanted = self._options.model or (self._info.model if self._info else None)
        if wanted is None and len(names) != 1:
            raise EngineStartError(f"Name the model, {client} has several: {', '.join(names[:5])}.")
        chosen = next((model for model in served if wanted in (None, model.name)), None)
        if chosen is None:
            raise EngineStartError(f"{client} has no model {wanted!r}, but {', '.join(names[:5])}.")
        return replace(chosen, context=chosen.context or await client.context())

    def _running(self) -> ServerPool:
        if not self._servers:
            raise EngineStartError("The completions server hasn't been asked yet, or was left.")
        return self._servers

    def _timeout(self) -> aiohttp.ClientTimeout:
        options = self._options
        return aiohttp.ClientTimeout(
            total=None,
            connect=None,
            sock_connect=options.connect_timeout,
            sock_read=options.silence_timeout,
        )

    def _headers(self) -> dict[str, str]:
        key = self._options.api_key
        return {"Authorization": f"Bearer {key}"} if key else {}


def _harmless(prompt: Prompt) -> str:
    """The prompt as one text, in which only control parts can act as control tokens."""
    return "".join(
        part.token if isinstance(part, Control) else escape_control_tokens(part.text)
        for part in prompt.parts
    )
