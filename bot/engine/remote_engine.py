"""The remote engine: any OpenAI-compatible completions server, such as llama-server or vLLM.

It sends the prompt as text. Control tokens that people type are therefore escaped first.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import aiohttp

from bot.engine.completions_client import (
    CompletionsClient,
    ServedModel,
    ServerError,
    TransientError,
)
from bot.engine.grammar_support import find_grammar_field
from bot.engine.idle_gate import IdleGate
from bot.engine.protocol import Chunk, Dialect, EngineInfo, Sampling
from bot.engine.remote_generation import RemoteGeneration, estimate_tokens
from bot.engine.sampling_fields import list_sampling_fields
from bot.engine.server_pool import ServerPool
from bot.errors import EngineDied, EngineError, EngineStartError, PromptTooLong
from bot.her.prompt import Control
from bot.her.sanitise import escape_control_tokens

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.completions_client import Body, CompletionChunk
    from bot.engine.protocol import Request
    from bot.engine.server_pool import Server
    from bot.her.prompt import Prompt

log = logging.getLogger(__name__)

_MAX_ATTEMPTS = 3
_ASSUMED_CONTEXT = 8192
_MAX_SEED = 2**32 - 1


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """Settings of the remote engine."""

    base_url: tuple[str, ...]
    """Addresses such as http://127.0.0.1:8080/v1. Several servers of one model share the load."""

    model: str | None = None  # default: the server's only model
    dialect: Dialect = Dialect.HER
    requirements: str = ""  # the Requirements section of the prompt; empty: Aside's own
    sampling: Sampling = field(default_factory=Sampling)
    context: int | None = None  # tokens; default: as the server reports
    api_key: str | None = field(default=None, repr=False)
    connect_timeout: float = 10.0  # seconds
    silence_timeout: float = 300.0  # seconds to wait for each token, including the first
    retry_pause: float = 0.5  # seconds before the second attempt, doubled before the third
    check_every: float = 15.0  # seconds between health checks if there are several servers
    grammar: bool = False  # hold replies to grammars if a probe shows that the server obeys them


class RemoteEngine:
    """An Engine that sends its requests to completions servers."""

    def __init__(self, options: RemoteOptions) -> None:
        self._options = options
        self._servers: ServerPool | None = None
        self._session: aiohttp.ClientSession | None = None
        self._info: EngineInfo | None = None
        self._starting = asyncio.Lock()
        self._monitor: asyncio.Task[None] | None = None
        self._gate = IdleGate()

    @property
    def info(self) -> EngineInfo:
        """Model, context and servers. Raises EngineStartError before `start` has succeeded."""
        if not self._info:
            raise EngineStartError("The remote engine has not been started.")
        return self._info

    async def start(self) -> None:
        """Check that a server answers and has the model. Raises EngineStartError if all fail."""
        async with self._starting:
            if self._servers:
                return
            # Each request gets its own connection. llama-server closes idle connections, and a
            # request over a closed one fails as if the server were down.
            connector = aiohttp.TCPConnector(force_close=True, limit=0)
            self._session = aiohttp.ClientSession(
                connector=connector, timeout=self._client_timeout(), headers=self._headers()
            )
            try:
                await self._discover(self._session)
            except BaseException:
                await self.close()
                raise

    async def close(self) -> None:
        """Close the connections. Active replies end with EngineDied."""
        if self._monitor:
            self._monitor.cancel()
            await asyncio.wait((self._monitor,))
            self._monitor = None
        session, self._session = self._session, None
        servers, self._servers = self._servers, None
        for server in servers or ():
            server.client.abort_streams()
        if session:
            await session.close()

    async def count(self, prompt: Prompt) -> int:
        """Return how many tokens `prompt` has. Estimate it if the server cannot tokenise."""
        return await self._count_tokens(_render_prompt(prompt), "")

    def recheck_grammar(self) -> None:
        """Probe the servers again before the next grammar. See `GrammarCheckingEngine`."""
        if self._servers and self.info.supports_grammar:
            self._servers.forget_grammars()

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream one reply. See `Engine.generate`."""
        if request.background:
            async with contextlib.aclosing(
                self._gate.pass_while_idle(self._generate(request))
            ) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        with self._gate.track_reply():
            async with contextlib.aclosing(self._generate(request)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def _generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        if not 0 <= request.seed <= _MAX_SEED:
            raise EngineError(
                f"The seed {request.seed} is out of range. Use a whole number up to {_MAX_SEED}."
            )
        prompt = _render_prompt(request.prompt)
        prompt_tokens = await self._require_room(request, prompt)
        reply = RemoteGeneration(request)
        while not reply.ended:
            async with contextlib.aclosing(
                self._request_completion(request, prompt, prompt_tokens, reply)
            ) as chunks:
                async for chunk in chunks:
                    if text := reply.receive(chunk):
                        yield Chunk(text)
                    if reply.must_close_planning or reply.stopped:
                        break
            if reply.must_close_planning:
                yield Chunk(reply.close_planning())
        yield Chunk(reply.flush(), reply.finish(prompt_tokens))

    async def _require_room(self, request: Request, prompt: str) -> int:
        """Return the tokens of the prompt. Raise PromptTooLong if it fills the context.

        The server is asked to count only if the estimate leaves doubt that everything fits.
        """
        tokens = estimate_tokens(prompt)
        if tokens + request.max_tokens > self.info.context:
            tokens = await self._count_tokens(prompt, request.mind)
        if tokens >= self.info.context:
            raise PromptTooLong(
                f"The prompt has {tokens:,} tokens, but prompt and reply together may have "
                f"{self.info.context:,}."
            )
        return tokens

    async def _request_completion(
        self, request: Request, prompt: str, prompt_tokens: int, reply: RemoteGeneration
    ) -> AsyncGenerator[CompletionChunk, None]:
        """Send one request. Retry it, on another server if possible, until text has arrived."""
        servers = self._require_servers()
        context_left = self.info.context - prompt_tokens - estimate_tokens(reply.text)
        sampling = request.sampling or self._options.sampling
        fields = self._build_body(
            request,
            prompt + escape_control_tokens(reply.text),
            min(reply.tokens_left, max(1, context_left)),
        )
        grammar = request.grammar_after_planning if reply.text else request.grammar
        if grammar is not None and not self.info.supports_grammar:
            if self._options.grammar:  # the caller takes the reply for well-formed
                raise _grammar_lost()
            grammar = None
        for attempt in range(_MAX_ATTEMPTS):
            server = servers.pick(request.mind)
            body = fields | list_sampling_fields(sampling, server.client.program)
            has_text = False
            try:
                if grammar is not None:
                    await self._add_grammar(body, grammar, server)
                with server.track_reply():
                    async with contextlib.aclosing(server.client.complete(body)) as chunks:
                        async for chunk in chunks:
                            has_text = has_text or bool(chunk.text)
                            yield chunk
            except TransientError as error:
                servers.mark_failed(server)
                closed = servers is not self._servers
                if has_text or closed or attempt == _MAX_ATTEMPTS - 1:
                    raise _log_and_convert(error) from error
                await asyncio.sleep(self._options.retry_pause * 2**attempt)
            except ServerError as error:
                raise _log_and_convert(error) from error
            else:
                return

    async def _add_grammar(self, body: Body, grammar: str, server: Server) -> None:
        """Add the grammar to a request, in the field that the server obeys.

        If the server no longer obeys any, give up grammars and raise EngineDied, so that the
        caller tries again and knows that the reply may be malformed. Raises TransientError.
        """
        await self._probe_grammar(server)
        if server.grammar_field is None:
            warning = _describe_missing_grammar([server])
            log.warning("%s", warning)
            self._info = replace(self.info, supports_grammar=False, warning=warning)
            raise _grammar_lost()
        server.grammar_field.add_to(body, grammar)

    async def _probe_grammar(self, server: Server) -> None:
        """Find out which grammars the server obeys, unless it is known. Raises TransientError."""
        if not server.grammar_probed:
            server.grammar_field = await find_grammar_field(server.client, self.info.model)
            server.grammar_probed = True

    def _build_body(self, request: Request, prompt: str, max_tokens: int) -> Body:
        return {
            "model": self.info.model,
            "prompt": prompt,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": max_tokens,
            "seed": request.seed,
            "stop": list(request.stop),
        }

    async def _count_tokens(self, text: str, mind: str) -> int:
        client = self._require_servers().pick(mind).client
        try:
            counted = await client.count_tokens(self.info.model, text)
        except ServerError as error:
            raise _log_and_convert(error) from error
        return estimate_tokens(text) if counted is None else counted

    async def _discover(self, session: aiohttp.ClientSession) -> None:
        """Ask every server for its model and set `info`. Servers that do not answer are skipped."""
        servers = ServerPool(
            [CompletionsClient(session, url) for url in self._options.base_url],
            rest=self._options.check_every,
        )
        results = await asyncio.gather(
            *(self._find_model(server.client) for server in servers), return_exceptions=True
        )
        models = [result for result in results if isinstance(result, ServedModel)]
        errors = [result for result in results if isinstance(result, BaseException)]
        for server, result in zip(servers, results, strict=True):
            if isinstance(result, BaseException):
                servers.mark_failed(server)
        if not models:
            error = errors[0] if errors else EngineStartError("base_url is empty. Set it.")
            raise EngineStartError(str(error)) from error
        names = list(dict.fromkeys(model.name for model in models))
        if len(names) > 1:
            raise EngineStartError(
                f"The completions servers have different models: {', '.join(names)}. "
                "Set model to one of them."
            )
        self._servers = servers
        if len(results) > 1:
            monitoring = servers.monitor(self._find_model, self._options.connect_timeout)
            self._monitor = asyncio.create_task(monitoring, name="health of completions servers")
        warnings = list(map(str, errors))
        context = self._choose_context(models, warnings)
        self._info = EngineInfo(
            kind="remote",
            model=models[0].name,
            dialect=self._options.dialect,
            requirements=self._options.requirements,
            context=context,
            device=", ".join(str(server.client) for server in servers),
            sampling=self._options.sampling,
        )
        if self._options.grammar:
            warnings += await self._start_grammars(servers)
        self._info = replace(self._info, warning=" ".join(warnings) or None)

    async def _start_grammars(self, servers: ServerPool) -> list[str]:
        """Probe every server that answered, and return warnings for the operator.

        Grammars are used only if all of these servers obey them.
        """
        answering = [server for server in servers if not server.down_until]
        for server in answering:
            try:
                await self._probe_grammar(server)
            except TransientError as error:
                return [f"Replies are not held to a grammar. {error}"]
        disobedient = [server for server in answering if server.grammar_field is None]
        if disobedient:
            return [_describe_missing_grammar(disobedient)]
        self._info = replace(self.info, supports_grammar=True)
        return []

    def _choose_context(self, models: list[ServedModel], warnings: list[str]) -> int:
        """Return the context in tokens. Add a warning if it is assumed or was reduced."""
        wanted = self._options.context
        reported = min((model.context for model in models if model.context), default=None)
        if reported is None:
            if wanted is None:
                warnings.append(
                    "The completions server does not report its context. Aside assumes "
                    f"{_ASSUMED_CONTEXT:,} tokens. Set engine.context to the server's value."
                )
            return wanted or _ASSUMED_CONTEXT
        if wanted is not None and wanted > reported:
            warnings.append(
                f"engine.context is {wanted:,} tokens, but the completions server has "
                f"{reported:,}. Aside uses {reported:,}. Give the server a larger context, or set "
                "a smaller one."
            )
        return min(wanted or reported, reported)

    async def _find_model(self, client: CompletionsClient) -> ServedModel:
        """Return the model to use on a server, with its context."""
        served = await client.list_models()
        names = ", ".join(model.name for model in served[:5])
        wanted = self._options.model or (self._info.model if self._info else None)
        if wanted is None and len(served) != 1:
            raise EngineStartError(
                f"{client} has several models: {names}. Set model to one of them."
            )
        chosen = next((model for model in served if wanted in (None, model.name)), None)
        if chosen is None:
            raise EngineStartError(f"{client} does not have the model {wanted!r}. It has {names}.")
        return replace(chosen, context=chosen.context or await client.fetch_context())

    def _require_servers(self) -> ServerPool:
        if not self._servers:
            raise EngineStartError("The remote engine has not been started, or was closed.")
        return self._servers

    def _client_timeout(self) -> aiohttp.ClientTimeout:
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


def _log_and_convert(error: ServerError) -> EngineError:
    """Log the operator's text of an error, and return the error for players."""
    log.warning("%s", error)
    return error.as_engine_error()


def _grammar_lost() -> EngineDied:
    return EngineDied("The model's server no longer holds replies to a form. Try again.")


def _describe_missing_grammar(servers: list[Server]) -> str:
    names = ", ".join(str(server.client) for server in servers)
    return (
        f"engine.grammar is on, but {names} ignores grammars. Replies are not held to HER's form. "
        "Use llama-server or vLLM, or switch engine.grammar off."
    )


def _render_prompt(prompt: Prompt) -> str:
    """Return the prompt as one text in which only control parts can act as control tokens."""
    return "".join(
        part.token if isinstance(part, Control) else escape_control_tokens(part.text)
        for part in prompt.parts
    )
