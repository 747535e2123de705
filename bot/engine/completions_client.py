"""One OpenAI-compatible completions server, as llama-server and vLLM are: its requests, its stream, its errors."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

import aiohttp
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import EngineBusy, EngineDied, EngineError, PromptTooLong

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

Body: TypeAlias = dict[str, Any]
_Answer = TypeVar("_Answer", bound=BaseModel)

_TOO_LONG = (
    "exceed_context_size",
    "context size",
    "maximum context length",
    "max_model_len",
    "context_length_exceeded",
)
_BUSY = (429, 503)


class Transient(Exception):
    """The server could not be asked, or went away; the same or another one may do better."""

    def __init__(self, text: str, *, busy: bool = False) -> None:
        super().__init__(text)
        self._busy = busy

    def as_engine_error(self) -> EngineError:
        """What it comes to when nothing better came of trying again."""
        return (EngineBusy if self._busy else EngineDied)(str(self))


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server has; `context` in tokens where it says."""

    name: str
    context: int | None


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Cached(_Message):
    cached_tokens: int | None = None


class Usage(_Message):
    """Token counts, as the server gives them at the end."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Cached | None = None


class _Choice(_Message):
    text: str = ""
    finish_reason: str | None = None


class _Completion(_Message):
    choices: tuple[_Choice, ...] = ()
    usage: Usage | None = None
    error: Any = None


class _Card(_Message):
    id: str
    max_model_len: int | None = None


class _Cards(_Message):
    data: tuple[_Card, ...]


class _Settings(_Message):
    n_ctx: int | None = None


class _Props(_Message):
    default_generation_settings: _Settings = Field(default_factory=_Settings)


class _Tokens(_Message):
    tokens: tuple[Any, ...] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class CompletionChunk:
    """A piece of a completion. `finish` is the server's word for why it ended."""

    text: str = ""
    finish: str | None = None
    usage: Usage | None = None


class CompletionsClient:
    """Speaks to one server. `base_url` may or may not end in `/v1`."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str) -> None:
        self._session = session
        self._open: set[aiohttp.ClientResponse] = set()
        self._root = base_url.strip().rstrip("/").removesuffix("/v1").rstrip("/")

    def __str__(self) -> str:
        return urlsplit(self._root).netloc or self._root

    def hang_up(self) -> None:
        """Break off every stream; who reads one gets Transient."""
        for response in self._open:
            response.close()

    async def models(self) -> tuple[ServedModel, ...]:
        """Ask which models there are. Raises Transient or EngineError."""
        cards = await self._get("/v1/models", _Cards)
        return tuple(ServedModel(card.id, card.max_model_len) for card in cards.data)

    async def context(self) -> int | None:
        """Ask how many tokens one reply may use with its prompt, the way llama-server tells it; None: it doesn't."""
        try:
            return (await self._get("/props", _Props)).default_generation_settings.n_ctx
        except (Transient, EngineError):
            return None

    async def count(self, model: str, text: str) -> int | None:
        """Ask how many tokens `text` has; None: the server can't tell. Raises Transient."""
        body = {
            "model": model,
            "content": text,
            "prompt": text,
            "add_special_tokens": False,
            "parse_special": True,
        }
        try:
            async with self._session.post(f"{self._root}/tokenize", json=body) as response:
                if response.status != 200:
                    return None
                answer = _Tokens.model_validate_json(await response.read())
        except ValidationError:
            return None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._unreachable() from error
        return len(answer.tokens) if answer.count is None else answer.count

    async def complete(self, body: Body) -> AsyncGenerator[CompletionChunk, None]:
        """Stream a completion. Closing the generator closes the connection, which stops the server.

        Raises Transient, PromptTooLong or EngineError.
        """
        ended = False
        try:
            async with self._session.post(f"{self._root}/v1/completions", json=body) as response:
                self._open.add(response)
                try:
                    await self._check(response)
                    async for piece in self._pieces(response):
                        ended = ended or piece.finish is not None
                        yield piece
                finally:
                    self._open.discard(response)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise self._unreachable() from error
        except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise Transient(f"The completions server {self} broke off; try again.") from error
        if not ended:
            raise Transient(f"The completions server {self} broke off; try again.")

    async def _pieces(
        self, response: aiohttp.ClientResponse
    ) -> AsyncGenerator[CompletionChunk, None]:
        if response.content_type == "application/json":  # it doesn't stream
            for piece in self._read(await response.read()):
                yield piece
            return
        async for line in response.content:
            field, _, data = line.strip().partition(b":")
            if field in (b"data", b"error") and data.strip() != b"[DONE]":
                for piece in self._read(data):
                    yield piece

    def _read(self, data: bytes) -> list[CompletionChunk]:
        try:
            said = _Completion.model_validate_json(data)
        except ValidationError as error:
            raise self._not_ours() from error
        if said.error is not None:
            raise Transient(
                f"The completions server {self} failed in the middle of a reply; try again."
            )
        pieces = [CompletionChunk(choice.text, choice.finish_reason) for choice in said.choices]
        return [*pieces, CompletionChunk(usage=said.usage)] if said.usage else pieces

    async def _get(self, path: str, answer: type[_Answer]) -> _Answer:
        try:
            async with self._session.get(self._root + path) as response:
                await self._check(response)
                return answer.model_validate_json(await response.read())
        except ValidationError as error:
            raise self._not_ours() from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._unreachable() from error

    async def _check(self, response: aiohttp.ClientResponse) -> None:
        """Raise what the status says."""
        if response.status == 200:
            if response.content_type == "text/html":
                raise self._not_ours()
            return
        said = _message(await response.read())
        if response.status in (401, 403):
            raise EngineError(
                f"The completions server {self} refused the key: set the right one in the environment."
            )
        if response.status in (400, 413, 422) and any(sign in said for sign in _TOO_LONG):
            raise PromptTooLong(f"The prompt is too long for the model on {self}.")
        if response.status == 404:
            raise EngineError(
                f"The completions server {self} has no such model or address: check model and base_url."
            )
        if response.status in _BUSY:
            raise Transient(
                f"The completions server {self} is too busy; try again later.", busy=True
            )
        if response.status >= 500:
            raise Transient(
                f"The completions server {self} failed with status {response.status}; try again later."
            )
        raise EngineError(
            f"The completions server {self} refused the request with status {response.status}."
        )

    def _unreachable(self) -> Transient:
        return Transient(f"No completions server answers at {self}: start it, or correct base_url.")

    def _not_ours(self) -> EngineError:
        return EngineError(
            f"What answers at {self} is no OpenAI-compatible completions server: correct base_url."
        )


def _message(data: bytes) -> str:
    """The text of an error, to look for signs in; never shown, since it may quote the prompt."""
    try:
        return json.dumps(json.loads(data)).casefold()
    except ValueError:
        return ""
