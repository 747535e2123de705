"""A client for one OpenAI-compatible completions server, such as llama-server or vLLM."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

import aiohttp
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from bot.engine.sampling_fields import ServerProgram
from bot.errors import EngineBusy, EngineDied, EngineError, PromptTooLong

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

log = logging.getLogger(__name__)

Body: TypeAlias = dict[str, Any]
_Response = TypeVar("_Response", bound=BaseModel)

_TOO_LONG_MARKERS = (
    "exceed_context_size",
    "context size",
    "context length",
    "maximum input length",
    "max_model_len",
    "context_length_exceeded",
)
_CHAT_ONLY_MARKERS = ("chat model", "chat/completions", "chat completions")
_BUSY_STATUSES = (429, 503)
_LOADING_MARKERS = ("loading model",)
_TIMEOUT_STATUSES = (408, 425)
_NO_SUCH_ADDRESS = (404, 405, 501)
_MAX_EVENT = 2**20  # bytes of one event of a stream
_LOGGED = "Whoever runs Aside finds the reason in its log."


class ServerError(Exception):
    """A request to a server failed.

    The text is for the operator and names the server. `as_engine_error` leaves out everything
    that players must not see: addresses, ports and settings.
    """

    def __init__(self, text: str, public_text: str, kind: type[EngineError] = EngineError) -> None:
        super().__init__(text)
        self._public_text = public_text
        self._kind = kind

    def as_engine_error(self) -> EngineError:
        """Return the error to raise to players, with the operator's text as its detail."""
        return self._kind(self._public_text, str(self))


class TransientError(ServerError):
    """The server is unreachable, busy or failed. Another try or another server may succeed."""

    def __init__(self, text: str, public_text: str, kind: type[EngineError] = EngineDied) -> None:
        super().__init__(text, public_text, kind)


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

    @field_validator("text", mode="before")
    @classmethod
    def _read_null_as_empty(cls, value: Any) -> Any:
        return "" if value is None else value


class _Completion(_ServerMessage):
    choices: tuple[_Choice, ...] = ()
    usage: Usage | None = None
    error: Any = None

    @field_validator("choices", mode="before")
    @classmethod
    def _read_null_as_empty(cls, value: Any) -> Any:
        return () if value is None else value

    @field_validator("usage", mode="wrap")
    @classmethod
    def _ignore_unknown_usage(cls, value: Any, validate: Callable[[Any], Usage]) -> Usage | None:
        """Return None for counts of another form, because only the statistics need them."""
        try:
            return None if value is None else validate(value)
        except ValidationError:
            return None


class _ModelEntry(_ServerMessage):
    id: str
    owned_by: str | None = None
    max_model_len: int | None = Field(
        default=None,
        validation_alias=AliasChoices(
            "max_model_len", "context_length", "context_window", "max_context_length"
        ),
    )


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
        self.program = ServerProgram.OTHER
        """The server's program, as far as its list of models tells."""
        self._root = base_url.strip().rstrip("/").removesuffix("/v1").rstrip("/")

    def __str__(self) -> str:
        return urlsplit(self._root).netloc or self._root

    def abort_streams(self) -> None:
        """Close every open stream. Its reader gets TransientError."""
        for response in self._open:
            response.close()

    async def list_models(self) -> tuple[ServedModel, ...]:
        """Return the models of the server. Raises ServerError."""
        listed = await self._get("/v1/models", _ModelList)
        self.program = ServerProgram((listed.data[0].owned_by if listed.data else None) or "")
        return tuple(ServedModel(entry.id, entry.max_model_len) for entry in listed.data)

    async def fetch_context(self) -> int | None:
        """Return the context in tokens that llama-server's `/props` reports, or None."""
        try:
            return (await self._get("/props", _ServerProps)).default_generation_settings.n_ctx
        except ServerError:
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
            raise self._explain_no_answer() from error
        return len(result.tokens) if result.count is None else result.count

    async def complete(self, body: Body) -> AsyncGenerator[CompletionChunk, None]:
        """Stream a completion. Closing the generator closes the connection and stops the server.

        Raises ServerError.
        """
        finished = False
        try:
            async with self._session.post(
                f"{self._root}/v1/completions", json=body, read_bufsize=_MAX_EVENT
            ) as response:
                self._open.add(response)
                try:
                    await self._require_completions(response)
                    async for chunk in self._read_chunks(response):
                        finished = finished or chunk.finish is not None
                        yield chunk
                finally:
                    self._open.discard(response)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise self._explain_no_answer() from error
        except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise self._explain_interruption() from error
        except ValueError as error:  # one event is larger than the buffer
            raise self._explain_wrong_api() from error
        if not finished:
            raise self._explain_interruption()

    async def _read_chunks(
        self, response: aiohttp.ClientResponse
    ) -> AsyncGenerator[CompletionChunk, None]:
        """Yield the chunks of a response. Skip comments, keep-alives and unknown events."""
        if response.content_type == "application/json":  # the server does not stream
            completion = self._parse(await response.read())
            if completion is None:
                raise self._explain_wrong_api()
            for chunk in self._split(completion):
                yield chunk
            return
        understood = skipped = finished = False
        async for line in response.content:
            data = _read_event_data(line.strip())
            if data == b"[DONE]":
                if not finished:  # some servers send no finish reason
                    yield CompletionChunk(finish="stop")
                return
            if not data:
                continue
            completion = self._parse(data)
            understood = understood or completion is not None
            skipped = skipped or completion is None
            for chunk in self._split(completion) if completion else ():
                finished = finished or chunk.finish is not None
                yield chunk
        if skipped and not understood:
            raise self._explain_wrong_api()

    def _parse(self, data: bytes) -> _Completion | None:
        try:
            return _Completion.model_validate_json(data)
        except ValidationError:
            log.debug("%s sent an unknown event of %d bytes", self, len(data))
            return None

    def _split(self, completion: _Completion) -> list[CompletionChunk]:
        if completion.error is not None:
            raise TransientError(
                f"The completions server {self} failed in the middle of a reply. Try again.",
                "The model's server failed in the middle of a reply. Try again.",
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
            raise self._explain_wrong_api() from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._explain_no_answer() from error

    async def _require_completions(self, response: aiohttp.ClientResponse) -> None:
        """Raise ServerError if this is not a completion. Find out if the server only chats."""
        if response.status in _NO_SUCH_ADDRESS:
            error_text = _read_error_text(await response.read())
            only_chat = any(marker in error_text for marker in _CHAT_ONLY_MARKERS)
            if only_chat or ("model" not in error_text and await self._offers_chat()):
                raise self._explain_refusal(
                    f"{self} offers only chat. Aside writes the whole prompt itself and needs "
                    "/v1/completions. Use llama-server, vLLM or another server that has it."
                )
        await self._raise_for_status(response)

    async def _offers_chat(self) -> bool:
        """Return whether the server has a chat endpoint but, as it seems, no completions."""
        try:
            async with self._session.post(f"{self._root}/v1/completions", json={}) as response:
                if response.status not in _NO_SUCH_ADDRESS:
                    return False  # the address exists, so only the model is missing
            async with self._session.post(f"{self._root}/v1/chat/completions", json={}) as chat:
                return chat.status not in _NO_SUCH_ADDRESS
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def _raise_for_status(self, response: aiohttp.ClientResponse) -> None:
        if response.status == 200:
            if response.content_type == "text/html":
                raise self._explain_wrong_api()
            return
        error_text = _read_error_text(await response.read())
        raise self._describe_status(response.status, error_text)

    def _describe_status(self, status: int, error_text: str) -> ServerError:
        if status in (400, 413, 422) and any(marker in error_text for marker in _TOO_LONG_MARKERS):
            return ServerError(
                f"The prompt is too long for the model on {self}.",
                "The prompt is too long for the model.",
                PromptTooLong,
            )
        if status == 503 and any(marker in error_text for marker in _LOADING_MARKERS):
            return TransientError(
                f"The completions server {self} is still loading its model. Try again later.",
                "The model's server is still loading its model. Try again later.",
            )
        if status in _BUSY_STATUSES:
            return TransientError(
                f"The completions server {self} is too busy. Try again later.",
                "The model's server is too busy. Try again later.",
                EngineBusy,
            )
        if status >= 500 or status in _TIMEOUT_STATUSES:
            return TransientError(
                f"The completions server {self} failed with status {status}. Try again later.",
                "The model's server failed. Try again later.",
            )
        fixes = {
            401: "rejected the API key. Set the right key in the environment.",
            402: "asks for payment. Add credit to the account of the API key.",
            403: "rejected the API key. Set the right key in the environment.",
            404: "does not have this model or address. Check model and base_url.",
            405: "accepts no completions at this address. Check that base_url ends with /v1.",
            413: "or a proxy before it accepts no request of this size. Raise its limit, or set a "
            "smaller context.",
        }
        fix = fixes.get(status, f"refused the request with status {status}.")
        return self._explain_refusal(f"The completions server {self} {fix}")

    def _explain_refusal(self, text: str) -> ServerError:
        return ServerError(text, f"The model's server refused the request. {_LOGGED}")

    def _explain_no_answer(self) -> TransientError:
        return TransientError(
            f"No completions server answers at {self}. Start it, or correct base_url.",
            f"The model's server does not answer. {_LOGGED}",
        )

    def _explain_interruption(self) -> TransientError:
        return TransientError(
            f"The connection to the completions server {self} was lost. Try again.",
            "The connection to the model's server was lost. Try again.",
        )

    def _explain_wrong_api(self) -> ServerError:
        return self._explain_refusal(
            f"The server at {self} is not an OpenAI-compatible completions server. "
            "Correct base_url."
        )


def _read_event_data(line: bytes) -> bytes:
    """Return the data of one line of a stream. Comments and other fields have none.

    Some servers send bare JSON lines instead of server-sent events.
    """
    if line.startswith(b"{"):
        return line
    field, _, data = line.partition(b":")
    return data.strip() if field in (b"data", b"error") else b""


def _read_error_text(data: bytes) -> str:
    """Return the error message, to search for markers only.

    It is never shown, since it may quote the prompt.
    """
    try:
        return json.dumps(json.loads(data)).casefold()
    except ValueError:
        return ""
