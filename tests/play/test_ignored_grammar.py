"""A remote server that stops obeying the grammar: its replies are private until they are safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.engine.remote_engine import RemoteEngine, RemoteOptions
from tests.engine.completions_server import Answer, CompletionsServer
from tests.play.test_scene import BENNET

if TYPE_CHECKING:
    from tests.play.harness import Evening

MALFORMED = "I plan SECRET things.\n\nMr Bennet: Well, SECRET well."


async def test_a_malformed_reply_ends_the_trust_in_the_grammar(evening: Evening) -> None:
    async with CompletionsServer([BENNET, MALFORMED, BENNET], grammar_field="grammar") as server:
        engine = RemoteEngine(RemoteOptions(base_url=(server.url,), grammar=True, retry_pause=0.01))
        await engine.start()
        async with evening.online(engine):
            await evening.begin()
            evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
            await evening.answer()
            assert engine.info.warning is None
            server.grammar_field = "unknown to Aside"
            evening.lizzy.say(evening.stage, "@Mr Bennet And now?")
            await evening.answer(count=2)
            assert not engine.info.supports_grammar
            assert "grammar" in server.requests[1]
            assert "grammar" not in server.requests[2]
        await engine.close()
    for person in (evening.lizzy, evening.kitty):
        assert "SECRET" not in person.ever_saw()


@pytest.mark.parametrize("status", [401, 402, 404, 405, 413])
async def test_a_refusal_of_the_server_shows_players_no_address_or_setting(
    evening: Evening, status: int
) -> None:
    async with CompletionsServer([Answer(status=status)]) as server:
        engine = RemoteEngine(RemoteOptions(base_url=(server.url,), retry_pause=0.01))
        await engine.start()
        async with evening.online(engine):
            await evening.begin()
            evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
            await evening.discord.until(
                lambda: "Whoever runs Aside" in evening.stage.messages[-1].content
            )
        await engine.close()
        address = server.url.removeprefix("http://").removesuffix("/v1")
        for private in (address, address.rpartition(":")[2], "/v1", "base_url"):
            assert private not in evening.lizzy.ever_saw()
