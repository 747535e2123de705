"""Remote servers and grammars: a grammar counts only if a reply showed that it was obeyed."""

from __future__ import annotations

from typing import Any

import pytest

from bot.engine.grammar_support import GrammarField
from bot.engine.protocol import GrammarCheckingEngine
from bot.errors import EngineDied
from tests.engine.completions_server import Answer, CompletionsServer
from tests.engine.sample_prompts import listen, request
from tests.engine.test_remote_engine import remote_engine

GRAMMAR = 'root ::= "Yes."\n'


def sent_grammar(body: dict[str, Any]) -> object:
    fields = [body.get(field) for field in GrammarField]
    return next((field for field in fields if field is not None), None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("grammar", GRAMMAR),
        ("structured_outputs", {"grammar": GRAMMAR}),
        ("guided_grammar", GRAMMAR),
    ],
)
async def test_a_grammar_is_sent_in_the_field_that_the_server_obeys(
    field: str, value: object
) -> None:
    async with (
        CompletionsServer(["Yes."], grammar_field=field) as server,
        remote_engine(server, grammar=True) as engine,
    ):
        assert engine.info.supports_grammar
        assert engine.info.warning is None
        await listen(engine, request("Hello?", grammar=GRAMMAR))
        assert server.requests[0][field] == value
        assert len([name for name in GrammarField if name in server.requests[0]]) == 1


async def test_a_setting_alone_makes_no_reply_well_formed() -> None:
    async with (
        CompletionsServer(["Yes."], grammar_field="unknown to Aside") as server,
        remote_engine(server, grammar=True) as engine,
    ):
        assert not engine.info.supports_grammar
        assert engine.info.warning is not None
        assert "ignores grammars" in engine.info.warning
        assert len(server.probes) == len(GrammarField)
        await listen(engine, request("Hello?"))
        assert sent_grammar(server.requests[0]) is None


async def test_without_the_setting_nothing_is_probed_or_sent() -> None:
    async with (
        CompletionsServer(["Yes."], grammar_field="grammar") as server,
        remote_engine(server) as engine,
    ):
        await listen(engine, request("Hello?", grammar=GRAMMAR))
        assert not engine.info.supports_grammar
        assert server.probes == []
        assert sent_grammar(server.requests[0]) is None


async def test_one_server_of_two_that_ignores_grammars_forbids_them() -> None:
    one = CompletionsServer(["Yes."], grammar_field="grammar")
    two = CompletionsServer(["Yes."], grammar_field="unknown to Aside")
    async with one, two, remote_engine(one, two, grammar=True) as engine:
        assert not engine.info.supports_grammar


async def test_two_servers_of_different_kinds_each_get_their_field() -> None:
    one = CompletionsServer(["Yes."], grammar_field="grammar")
    two = CompletionsServer(["Yes."], grammar_field="structured_outputs")
    async with one, two, remote_engine(one, two, grammar=True) as engine:
        await listen(engine, request("Hello?", mind="a", grammar=GRAMMAR))
        await one.__aexit__()
        await listen(engine, request("Hello?", mind="a", grammar=GRAMMAR))
        assert [sent_grammar(body) for body in one.requests + two.requests] == [
            GRAMMAR,
            {"grammar": GRAMMAR},
        ]
        assert "grammar" not in two.requests[0]


async def test_a_malformed_reply_makes_aside_check_again() -> None:
    async with (
        CompletionsServer(["Yes."], grammar_field="grammar") as server,
        remote_engine(server, grammar=True) as engine,
    ):
        assert isinstance(engine, GrammarCheckingEngine)
        engine.recheck_grammar()
        await listen(engine, request("Hello?", grammar=GRAMMAR))
        assert len(server.probes) == 2
        server.grammar_field = "unknown to Aside"
        await listen(engine, request("Hello?", grammar=GRAMMAR))
        engine.recheck_grammar()
        with pytest.raises(EngineDied, match="no longer holds replies"):
            await listen(engine, request("Hello?", grammar=GRAMMAR))
        assert not engine.info.supports_grammar
        assert engine.info.warning is not None
        with pytest.raises(EngineDied):
            await listen(engine, request("Hello?", grammar=GRAMMAR))
        assert (await listen(engine, request("Hello?")))[0] == "Yes."


async def test_a_server_that_failed_is_probed_before_its_next_grammar() -> None:
    async with (
        CompletionsServer(["Yes.", Answer(status=500), "Yes."], grammar_field="grammar") as server,
        remote_engine(server, grammar=True) as engine,
    ):
        await listen(engine, request("Hello?", grammar=GRAMMAR))
        assert len(server.probes) == 1
        await listen(engine, request("Hello?", grammar=GRAMMAR))
        assert len(server.probes) == 2


async def test_a_reply_with_closed_planning_continues_in_the_grammar_of_its_rest() -> None:
    async with (
        CompletionsServer(["think " * 100, "Yes."], grammar_field="grammar") as server,
        remote_engine(server, grammar=True) as engine,
    ):
        wanted = request(
            "Hello?",
            prefill="<system_thinking>",
            planning_tokens=6,
            max_tokens=100,
            grammar=GRAMMAR,
            grammar_after_planning='root ::= "rest"\n',
        )
        await listen(engine, wanted)
        assert [sent_grammar(body) for body in server.requests] == [GRAMMAR, 'root ::= "rest"\n']
