"""Odd answers of completions servers: they don't end a good stream, and each error has a fix."""

from __future__ import annotations

import json

import pytest

from bot.engine.protocol import FinishReason
from bot.errors import EngineDied, EngineError, EngineStartError, PromptTooLong
from tests.engine.completions_server import Answer, CompletionsServer
from tests.engine.sample_prompts import listen, request
from tests.engine.test_remote_engine import collect, engine_and_server, remote_engine


def event(text: str | None, finish: str | None = None) -> bytes:
    return b"data: " + json.dumps({"choices": [{"text": text, "finish_reason": finish}]}).encode()


GOOD = (event("Good "), event("evening."), event("", "stop"), b"data: [DONE]")


@pytest.mark.parametrize(
    "odd",
    [
        b": keep-alive",
        b":",
        b"",
        b"\r",
        b"data:",
        b"data: ",
        b"event: ping",
        b"id: 7",
        b"retry: 3000",
        b"data: ping",
        b"data: null",
        b"data: {}",
        b'data: {"type": "heartbeat", "at": 12.5}',
        b'data: {"choices": null}',
        b'data: {"choices": []}',
        b'data: {"choices": [], "usage": null, "error": null}',
        b'data: {"choices": [], "usage": {"prompt_tokens": "many"}}',
        b'data: {"choices": [], "timings": {"predicted_ms": 3}, "system_fingerprint": null}',
        b'data: {"choices": [{"text": 7}]}',
        event(None),
        b"data: " + b'{"choices": [], "debug": "' + b"x" * 300_000 + b'"}',
    ],
    ids=lambda line: line[:40].decode(),
)
async def test_an_odd_event_does_not_end_a_good_stream(odd: bytes) -> None:
    for position in range(3):
        events = (*GOOD[:position], odd, *GOOD[position:])
        async with engine_and_server(Answer(events=events)) as (engine, server):
            text, finish = await listen(engine, request("Hello?"))
            assert (text, finish.reason) == ("Good evening.", FinishReason.STOP)
            assert len(server.requests) == 1


async def test_a_stream_may_end_without_a_finish_reason() -> None:
    async with engine_and_server(Answer(events=(GOOD[0], GOOD[1], GOOD[3]))) as (engine, _):
        assert (await listen(engine, request("Hello?")))[0] == "Good evening."


async def test_done_does_not_change_the_reason_of_the_end() -> None:
    events = (GOOD[0], event("", "length"), b"data: [DONE]")
    async with engine_and_server(Answer(events=events)) as (engine, _):
        assert (await listen(engine, request("Hello?")))[1].reason is FinishReason.LENGTH


async def test_bare_json_lines_are_a_stream_too() -> None:
    events = tuple(line.removeprefix(b"data: ") for line in GOOD[:3])
    async with engine_and_server(Answer(events=events)) as (engine, _):
        assert (await listen(engine, request("Hello?")))[0] == "Good evening."


async def test_a_stream_without_its_end_is_interrupted() -> None:
    async with engine_and_server(Answer(events=GOOD[:2])) as (engine, _):
        with pytest.raises(EngineDied, match="was lost"):
            await collect(engine, request("Hello?"), [])


async def test_a_stream_of_unknown_events_only_is_not_a_completion(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with engine_and_server(Answer(events=(b"data: hello", b"data: 7"))) as (engine, _):
        with pytest.raises(EngineError):
            await listen(engine, request("Hello?"))
    assert "not an OpenAI-compatible completions server" in caplog.text


@pytest.mark.parametrize(
    ("status", "fix"),
    [
        (401, "Set the right key"),
        (402, "Add credit"),
        (403, "Set the right key"),
        (404, "Check model and base_url"),
        (405, "base_url ends with /v1"),
        (413, "set a smaller context"),
        (418, "status 418"),
    ],
)
async def test_the_log_names_the_server_and_the_fix(
    status: int, fix: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = Answer(status=status, error="the model is secret")
    async with engine_and_server(answer) as (engine, server):
        with pytest.raises(EngineError) as caught:
            await listen(engine, request("Hello?"))
        assert fix in caught.value.detail
        address = server.url.removeprefix("http://").removesuffix("/v1")
    messages = [record.message for record in caplog.records if record.name.startswith("bot")]
    assert [message for message in messages if address in message and fix in message]
    assert "secret" not in caplog.text


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 408, 413, 429, 500, 503])
async def test_players_read_no_address_port_path_or_setting(status: int) -> None:
    async with engine_and_server(Answer(status=status, error="no")) as (engine, server):
        with pytest.raises(EngineError) as caught:
            await listen(engine, request("Hello?"))
        assert_public(str(caught.value), server)


async def test_players_read_no_address_of_a_server_that_is_gone() -> None:
    async with engine_and_server("Yes.") as (engine, server):
        await server.__aexit__()
        with pytest.raises(EngineDied) as caught:
            await listen(engine, request("Hello?"))
        assert_public(str(caught.value), server)
        with pytest.raises(EngineDied) as caught:
            await engine.count(request("Hello?").prompt)
        assert_public(str(caught.value), server)


def assert_public(text: str, server: CompletionsServer) -> None:
    assert text.endswith(".")
    port = server.url.rpartition(":")[2].removesuffix("/v1")
    for private in ("127.0.0.1", port, "/v1", "http", "base_url", "engine."):
        assert private not in text


async def test_a_proxy_that_limits_the_request_is_not_a_long_prompt() -> None:
    async with engine_and_server(Answer(status=413, error="entity too large")) as (engine, _):
        with pytest.raises(EngineError, match="refused") as caught:
            await listen(engine, request("Hello?"))
        assert not isinstance(caught.value, PromptTooLong)


async def test_a_server_that_offers_only_chat_is_named_as_that(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        CompletionsServer(["Yes."], only_chat=True) as server,
        remote_engine(server) as engine,
    ):
        with pytest.raises(EngineError, match="refused the request"):
            await listen(engine, request("Hello?"))
    assert "offers only chat" in caplog.text
    assert "Use llama-server, vLLM" in caplog.text


async def test_a_chat_model_is_named_as_that(caplog: pytest.LogCaptureFixture) -> None:
    """OpenAI answers so."""
    error = "This is a chat model and not supported in the v1/completions endpoint."
    async with engine_and_server(Answer(status=404, error=error)) as (engine, _):
        with pytest.raises(EngineError):
            await listen(engine, request("Hello?"))
    assert "offers only chat" in caplog.text


async def test_a_context_that_the_server_does_not_report_is_assumed_with_a_warning() -> None:
    async with CompletionsServer(["Yes."], context=None) as server:
        async with remote_engine(server) as engine:
            assert engine.info.context == 8192
            assert engine.info.warning is not None
            assert "assumes 8,192 tokens. Set engine.context" in engine.info.warning
        async with remote_engine(server, context=2048) as engine:
            assert (engine.info.context, engine.info.warning) == (2048, None)


async def test_a_context_larger_than_the_servers_is_reduced_with_a_warning() -> None:
    async with CompletionsServer(["Yes."], context=4096) as server:
        async with remote_engine(server, context=32768) as engine:
            assert engine.info.context == 4096
            assert engine.info.warning is not None
            assert "is 32,768 tokens, but the completions server has 4,096" in engine.info.warning
        async with remote_engine(server, context=1024) as engine:
            assert (engine.info.context, engine.info.warning) == (1024, None)


@pytest.mark.parametrize(
    "name", ["max_model_len", "context_length", "context_window", "max_context_length"]
)
async def test_servers_report_the_context_of_a_model_under_several_names(name: str) -> None:
    async with (
        CompletionsServer(["Yes."], context=None, entry={name: 3000}) as server,
        remote_engine(server) as engine,
    ):
        assert (engine.info.context, engine.info.warning) == (3000, None)


async def test_errors_at_the_start_name_the_server_for_the_operator() -> None:
    async with CompletionsServer(["Yes."], key="sesame") as server:
        with pytest.raises(EngineStartError, match=r"127\.0\.0\.1:\d+ rejected the API key"):
            async with remote_engine(server):
                pass
