"""The judge's endpoint: answers, retries and refusals, over real HTTP on loopback."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from bot.errors import EngineError
from bot.evaluation.chat_model import Endpoint, EndpointChat
from bot.her.layout import Message, Role

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

ASKED = (Message(Role.SYSTEM, "Judge."), Message(Role.USER, "A conversation."))


def completion(text: str | None) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": None}


@asynccontextmanager
async def serving(*answers: tuple[int, object]) -> AsyncGenerator[tuple[EndpointChat, list[Any]]]:
    """A chat endpoint that gives these answers (status, JSON or text), the last one repeatedly."""
    script = list(answers)
    seen = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.headers.get("Authorization"), await request.json()))
        status, body = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(body, str):
            return web.Response(status=status, text=body)
        return web.json_response(body, status=status)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    endpoint = Endpoint(f"http://{host}:{port}/v1/", "judge-1", "sk-secret", retry_pause=0.01)
    try:
        async with EndpointChat(endpoint) as chat:
            yield chat, seen
    finally:
        await runner.cleanup()


async def test_an_answer_is_returned_and_the_request_is_complete() -> None:
    async with serving((200, completion(" Fine. "))) as (chat, seen):
        assert await chat.answer(ASKED, max_tokens=50, seed=3) == "Fine."
        assert chat.name == "judge-1"
    ((key, body),) = seen
    assert key == "Bearer sk-secret"
    assert body["messages"] == [
        {"role": "system", "content": "Judge."},
        {"role": "user", "content": "A conversation."},
    ]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("judge-1", 50, 0)


@pytest.mark.parametrize(
    "trouble", [(429, "slow down"), (503, {}), (200, "<html>"), (200, {"choices": "none"})]
)
async def test_a_passing_failure_is_retried(trouble: tuple[int, object]) -> None:
    async with serving(trouble, (200, completion("Fine."))) as (chat, seen):
        assert await chat.answer(ASKED, max_tokens=50, seed=0) == "Fine."
    assert len(seen) == 2


async def test_a_lasting_failure_is_reported_after_four_attempts() -> None:
    async with serving((500, "down")) as (chat, seen):
        with pytest.raises(EngineError, match=r"failed 4 times \(status 500\)"):
            await chat.answer(ASKED, max_tokens=50, seed=0)
    assert len(seen) == 4


async def test_a_refusal_is_not_retried_and_shows_no_key() -> None:
    async with serving((401, {"error": "bad key sk-secret"})) as (chat, seen):
        with pytest.raises(EngineError, match=r"status 401") as caught:
            await chat.answer(ASKED, max_tokens=50, seed=0)
    assert len(seen) == 1
    assert "sk-secret" not in str(caught.value)
    assert "sk-secret" not in repr(Endpoint("http://127.0.0.1/v1", "judge", "sk-secret"))


async def test_an_empty_answer_is_empty_text() -> None:
    async with serving((200, completion(None))) as (chat, _):
        assert await chat.answer(ASKED, max_tokens=50, seed=0) == ""
    async with serving((200, {"choices": []})) as (chat, _):
        assert await chat.answer(ASKED, max_tokens=50, seed=0) == ""
