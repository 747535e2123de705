"""Chat models: the judges, directors and narrators of an evaluation."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import aiohttp
from pydantic import BaseModel, ValidationError

from bot.engine.protocol import Request, Sampling
from bot.errors import EngineError
from bot.her.chatml import STOPS
from bot.scenes.prompt_builder import render_prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import Engine
    from bot.her.layout import Message

_ATTEMPTS: Final = 4
_RETRY_STATUS: Final = frozenset({408, 409, 429, 500, 502, 503, 504})
_LONGEST_PAUSE: Final = 60.0  # seconds


class ChatModel(Protocol):
    """Answers a chat. Many tasks may use it at once."""

    @property
    def name(self) -> str:
        """The model's name, as it appears in reports."""
        ...

    async def answer(self, messages: Sequence[Message], *, max_tokens: int, seed: int) -> str:
        """Return the model's answer. Raises EngineError."""
        ...


class EngineChat:
    """A chat model that runs on an Engine, with Qwen3's thinking switched off."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        """The engine's model."""
        return self._engine.info.model

    async def answer(self, messages: Sequence[Message], *, max_tokens: int, seed: int) -> str:
        """Return the most likely answer (temperature 0). Raises EngineError."""
        request = Request(
            prompt=render_prompt(
                tuple(messages), self._engine.info.prompt_format, "", empty_think=True
            ),
            mind=f"evaluation/{hash(messages[0].text)}",
            sampling=Sampling(temperature=0.0),
            seed=seed,
            max_tokens=max_tokens,
            planning_tokens=None,
            stop=STOPS,
        )
        async with aclosing(self._engine.generate(request)) as chunks:
            return "".join([chunk.text async for chunk in chunks]).strip()


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """An OpenAI-compatible chat endpoint. `base_url` ends in `/v1`.

    The key never shows in a repr.
    """

    base_url: str
    model: str
    api_key: str | None = None
    timeout: float = 180.0  # seconds for one answer
    retry_pause: float = 1.0  # seconds before the second attempt, doubled each time


class _ChatAnswer(BaseModel):
    content: str | None = None


class _ChatChoice(BaseModel):
    message: _ChatAnswer


class _ChatCompletion(BaseModel):
    choices: list[_ChatChoice]


class EndpointChat:
    """A chat model behind an Endpoint. Use it as an asynchronous context manager."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        key = self._endpoint.api_key
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=self._endpoint.timeout),
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )
        return self

    async def __aexit__(self, *_error: object) -> None:
        if self._session is not None:
            await self._session.close()

    @property
    def name(self) -> str:
        """The model's name on the endpoint."""
        return self._endpoint.model

    async def answer(self, messages: Sequence[Message], *, max_tokens: int, seed: int) -> str:
        """Return the answer at temperature 0. Retry if the endpoint is busy or fails.

        Raises EngineError if the endpoint refuses the request or every attempt fails.
        """
        body = {
            "model": self._endpoint.model,
            "messages": [{"role": str(one.role), "content": one.text} for one in messages],
            "max_tokens": max_tokens,
            "temperature": 0,
            "seed": seed,
        }
        problem = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                pause = self._endpoint.retry_pause * 2 ** (attempt - 1)
                await asyncio.sleep(min(pause, _LONGEST_PAUSE))
            try:
                return await self._request(body)
            except _RetryableError as error:
                problem = str(error)
        raise EngineError(f"The judge's server failed {_ATTEMPTS} times ({problem}).")

    async def _request(self, body: dict[str, Any]) -> str:
        if self._session is None:
            raise EngineError("The endpoint is not open. Enter its context first.")
        url = f"{self._endpoint.base_url.rstrip('/')}/chat/completions"
        try:
            async with self._session.post(url, json=body) as response:
                text = await response.text()
        except TimeoutError as error:
            raise _RetryableError("timeout") from error
        except aiohttp.ClientError as error:
            raise _RetryableError(type(error).__name__) from error
        if response.status in _RETRY_STATUS:
            raise _RetryableError(f"status {response.status}")
        if response.status != 200:
            raise EngineError(
                f"The judge's server refused the request (status {response.status}). "
                "Check the judge's address, model name and key."
            )
        try:
            completion = _ChatCompletion.model_validate_json(text)
        except (ValidationError, json.JSONDecodeError) as error:
            raise _RetryableError("an answer that is not a chat completion") from error
        return (completion.choices[0].message.content or "").strip() if completion.choices else ""


class _RetryableError(Exception):
    """One attempt failed, and another one may succeed."""
