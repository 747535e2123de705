"""A scripted OpenAI-compatible completions server on loopback, for tests of the remote engine.

It answers like llama-server: server-sent events with one token each, `/tokenize`, `/props`. A
token is four characters long; see `split_tokens`.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Callable

Body: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the server."""

    text: str = ""
    status: int = 200
    error: str = ""  # error message, if the status is not 200
    drop_after: int | None = None  # tokens after which the connection is dropped
    html: bool = False
    pause: float = 0.0  # seconds between tokens
    events: tuple[bytes, ...] = ()  # lines to send instead of the text


Answers: TypeAlias = "str | Answer | Callable[[Body], str | Answer]"


def split_tokens(text: str) -> list[str]:
    """Split a text into tokens."""
    return [text[start : start + 4] for start in range(0, len(text), 4)]


@dataclass
class CompletionsServer:
    """Serves scripted answers at `url` while it is entered. The last answer repeats."""

    answers: list[Answers]
    models: tuple[str, ...] = ("HER-32B",)
    key: str = ""
    entry: Body = field(default_factory=dict)  # further fields of each model in the list
    context: int | None = 4096
    can_tokenize: bool = True
    grammar_field: str = ""  # the field whose grammars the server obeys, as the probe finds out
    only_chat: bool = False
    requests: list[Body] = field(default_factory=list)  # without the probes of grammars
    probes: list[Body] = field(default_factory=list)
    interrupted: int = 0  # answers that the client did not read to the end
    keep_alive_requests: int = 0  # requests with which the client offered to keep the connection
    url: str = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/props", self._props)
        path = "/v1/chat/completions" if self.only_chat else "/v1/completions"
        app.router.add_post(path, self._complete)
        if self.can_tokenize:
            app.router.add_post("/tokenize", self._tokenize)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _models(self, request: web.Request) -> web.Response:
        if denied := self._check_key(request):
            return denied
        return web.json_response(
            {
                "object": "list",
                "data": [{"id": name, "object": "model"} | self.entry for name in self.models],
            }
        )

    async def _props(self, _request: web.Request) -> web.Response:
        settings = {} if self.context is None else {"n_ctx": self.context}
        return web.json_response({"default_generation_settings": settings})

    async def _tokenize(self, request: web.Request) -> web.Response:
        self.keep_alive_requests += request.keep_alive
        body = await request.json()
        return web.json_response({"tokens": list(range(len(split_tokens(body["content"]))))})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if "prompt" not in body:
            return _error(400, "prompt is missing")
        if "aside-" in json.dumps(body):
            return await self._answer_probe(request, body)
        self.requests.append(body)
        self.keep_alive_requests += request.keep_alive
        if denied := self._check_key(request):
            return denied
        if body["model"] not in self.models:
            return _error(404, f"The model `{body['model']}` does not exist.")
        if self.context and len(split_tokens(body["prompt"])) >= self.context:
            return _error(
                400, "the request exceeds the available context size", "exceed_context_size_error"
            )
        answer = self._answer(body)
        if answer.html:
            return web.Response(text="<html>Welcome to nginx!</html>", content_type="text/html")
        if answer.status != 200:
            return _error(answer.status, answer.error)
        return await self._stream(request, body, answer)

    async def _stream(self, request: web.Request, body: Body, answer: Answer) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        text, finish = _cut_at_stop(answer.text, body.get("stop", []))
        tokens = split_tokens(text)
        if len(tokens) > body["max_tokens"]:
            tokens, finish = tokens[: body["max_tokens"]], "length"
        try:
            for line in answer.events:
                await response.write(line + b"\n")
            if answer.events:
                return response
            for number, token in enumerate(tokens):
                if number == answer.drop_after:
                    if request.transport:
                        request.transport.abort()
                    return response
                await _send_event(
                    response, {"choices": [{"index": 0, "text": token, "finish_reason": None}]}
                )
                await asyncio.sleep(answer.pause)
            await _send_event(
                response, {"choices": [{"index": 0, "text": "", "finish_reason": finish}]}
            )
            usage = {
                "prompt_tokens": len(split_tokens(body["prompt"])),
                "completion_tokens": len(tokens),
            }
            await _send_event(response, {"choices": [], "usage": usage})
            await response.write(b"data: [DONE]\n\n")
        except (asyncio.CancelledError, ConnectionError):
            self.interrupted += 1
            raise
        return response

    async def _answer_probe(self, request: web.Request, body: Body) -> web.StreamResponse:
        """Answer as a server that knows only its own field for grammars."""
        self.probes.append(body)
        obeys = self.grammar_field in body
        return await self._stream(request, body, Answer("aside-x-12" if obeys else "Evening."))

    def _answer(self, body: Body) -> Answer:
        entry = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer = entry(body) if callable(entry) else entry
        return Answer(answer) if isinstance(answer, str) else answer

    def _check_key(self, request: web.Request) -> web.Response | None:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _error(401, "Invalid API Key")
        return None


def _error(status: int, message: str, kind: str = "error") -> web.Response:
    return web.json_response(
        {"error": {"code": status, "message": message, "type": kind}}, status=status
    )


def _cut_at_stop(text: str, stops: list[str]) -> tuple[str, str]:
    cut = min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))
    return text[:cut], "stop"


async def _send_event(response: web.StreamResponse, body: Body) -> None:
    await response.write(b"data: " + json.dumps(body).encode() + b"\n\n")
