"""A client for one OpenAI-compatible completions server, such as llama-server or vLLM."""

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
_Response = TypeVar("_Response", bound=BaseModel)

_TOO_LONG_MARKERS = (
    "exceed_context_size",
    "context size",
    "maximum context length",
    "max_model_len",
    "context_length_exceeded",
)
_BUSY_STATUSES = (429, 503)


class TransientError(Exception):
    """The server is unreachable, busy or failed. Another try or another server may succeed."""

    def __init__(self, text: str, *, busy: bool = False) -> None:
        super().__init__(text)
        self._busy = busy

    def as_engine_error(self) -> EngineError:
        """Return the error to raise if every try failed."""
        return (EngineBusy if self._busy else EngineDied)(str(self))


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server offers. `context` is in tokens, or None if the server does not say."""

    name: str
    context: int | None


class _ServerMessage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _PromptTokensDetails(_ServerMessage):
    cached_tokens: int | None = None


class Usage(_ServerMessage):
    """Token counts that the server sends at the end of a stream."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _PromptTokensDetails | None = None


class _Choice(_ServerMessage):
    text: str = ""
    finish_reason: str | None = None


class _Completion(_ServerMessage):
    choices: tuple[_Choice, ...] = ()
    usage: Usage | None = None
    error: Any = None


class _ModelEntry(_ServerMessage):
    id: str
    max_model_len: int | None = None


class _ModelList(_ServerMessage):
    data: tuple[_ModelEntry, ...]


class _GenerationSettings(_ServerMessage):
    n_ctx: int | None = None


class _ServerProps(_ServerMessage):
    default_generation_settings: _GenerationSettings = Field(default_factory=_GenerationSettings)


class _TokenizeResult(_ServerMessage):
    tokens: tuple[Any, ...] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class CompletionChunk:
    """One chunk of a completion. `finish` is the server's finish reason, in its last chunk."""

    text: str = ""
    finish: str | None = None
    usage: Usage | None = None


class CompletionsClient:
    """Sends requests to one server. `base_url` works with and without `/v1` at its end."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str) -> None:
        self._session = session
        self._open: set[aiohttp.ClientResponse] = set()
        self._root = base_url.strip().rstrip("/").removesuffix("/v1").rstrip("/")

    def __str__(self) -> str:
        return urlsplit(self._root).netloc or self._root

    def abort_streams(self) -> None:
        """Close every open stream. Its reader gets TransientError."""
        for response in self._open:
            response.close()

    async def list_models(self) -> tuple[ServedModel, ...]:
        """Return the models of the server. Raises TransientError or EngineError."""
        listed = await self._get("/v1/models", _ModelList)
        return tuple(ServedModel(entry.id, entry.max_model_len) for entry in listed.data)

    async def fetch_context(self) -> int | None:
        """Return the context in tokens that llama-server's `/props` reports, or None."""
        try:
            return (await self._get("/props", _ServerProps)).default_generation_settings.n_ctx
        except (TransientError, EngineError):
            return None

    async def count_tokens(self, model: str, text: str) -> int | None:
        """Return the number of tokens in `text`, or None if the server cannot tokenise.

        Raises TransientError.
        """
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
                result = _TokenizeResult.model_validate_json(await response.read())
        except ValidationError:
            return None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._unreachable() from error
        return len(result.tokens) if result.count is None else result.count

    async def complete(self, body: Body) -> AsyncGenerator[CompletionChunk, None]:
        """Stream a completion. Closing the generator closes the connection and stops the server.

        Raises TransientError, PromptTooLong or EngineError.
        """
        finished = False
        try:
            async with self._session.post(f"{self._root}/v1/completions", json=body) as response:
                self._open.add(response)
                try:
                    await self._raise_for_status(response)
                    async for chunk in self._read_chunks(response):
                        finished = finished or chunk.finish is not None
                        yield chunk
                finally:
                    self._open.discard(response)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise self._unreachable() from error
        except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise self._interrupted() from error
        if not finished:
            raise self._interrupted()

    async def _read_chunks(
        self, response: aiohttp.ClientResponse
    ) -> AsyncGenerator[CompletionChunk, None]:
        if response.content_type == "application/json":  # the server does not stream
            for chunk in self._parse(await response.read()):
                yield chunk
            return
        async for line in response.content:
            field, _, data = line.strip().partition(b":")
            if field in (b"data", b"error") and data.strip() != b"[DONE]":
                for chunk in self._parse(data):
                    yield chunk

    def _parse(self, data: bytes) -> list[CompletionChunk]:
        try:
            completion = _Completion.model_validate_json(data)
        except ValidationError as error:
            raise self._incompatible() from error
        if completion.error is not None:
            raise TransientError(
                f"The completions server {self} failed in the middle of a reply. Try again."
            )
        chunks = [
            CompletionChunk(choice.text, choice.finish_reason) for choice in completion.choices
        ]
        if completion.usage:
            chunks.append(CompletionChunk(usage=completion.usage))
        return chunks

    async def _get(self, path: str, message: type[_Response]) -> _Response:
        try:
            async with self._session.get(self._root + path) as response:
                await self._raise_for_status(response)
                return message.model_validate_json(await response.read())
        except ValidationError as error:
            raise self._incompatible() from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._unreachable() from error

    async def _raise_for_status(self, response: aiohttp.ClientResponse) -> None:
        status = response.status
        if status == 200:
            if response.content_type == "text/html":
                raise self._incompatible()
            return
        error_text = _read_error_text(await response.read())
        if status in (401, 403):
            raise EngineError(
                f"The completions server {self} rejected the API key. "
                "Set the right key in the environment."
            )
        if status in (400, 413, 422) and any(marker in error_text for marker in _TOO_LONG_MARKERS):
            raise PromptTooLong(f"The prompt is too long for the model on {self}.")
        if status == 404:
            raise EngineError(
                f"The completions server {self} does not have this model or address. "
                "Check model and base_url."
            )
        if status in _BUSY_STATUSES:
            raise TransientError(
                f"The completions server {self} is too busy. Try again later.", busy=True
            )
        if status >= 500:
            raise TransientError(
                f"The completions server {self} failed with status {status}. Try again later."
            )
        raise EngineError(
            f"The completions server {self} refused the request with status {status}."
        )

    def _unreachable(self) -> TransientError:
        return TransientError(
            f"No completions server answers at {self}. Start it, or correct base_url."
        )

    def _interrupted(self) -> TransientError:
        return TransientError(
            f"The connection to the completions server {self} was lost. Try again."
        )

    def _incompatible(self) -> EngineError:
        return EngineError(
            f"The server at {self} is not an OpenAI-compatible completions server. "
            "Correct base_url."
        )


def _read_error_text(data: bytes) -> str:
    """Return the error message, to search for markers only.

    It is never shown, since it may quote the prompt.
    """
    try:
        return json.dumps(json.loads(data)).casefold()
    except ValueError:
        return ""
