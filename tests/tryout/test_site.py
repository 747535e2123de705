"""The site shows live changes, and only to people who have the link."""

from __future__ import annotations

import re
import socket
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest

from bot.errors import UserInputError
from bot.library.scenario import Character, Scenario
from bot.tryout.loopback_port import listen
from bot.tryout.tryout_session import run_session
from tests.engine.scripted_engine import ScriptedEngine
from tests.tryout.conftest import SmallBot
from tests.tryout.http_visitor import Visitor
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import discord

    from bot.tryout.site import Site

SCENARIO = Scenario(
    id="a-scene",
    title="Mr Bennet's study",
    book="A book",
    summary="A line.",
    setting="A room.",
    characters=(Character(name="Mr Bennet"), Character(name="Jane")),
)


@asynccontextmanager
async def site_of(bot: SmallBot) -> AsyncIterator[tuple[Site, Visitor]]:
    engine = ScriptedEngine(["Well?"])
    await engine.start()
    with listen(None) as server:
        async with (
            run_session(lambda _: bot, engine, server, SCENARIO) as site,
            aiohttp.ClientSession() as session,
        ):
            yield site, Visitor(session, site)


async def echo(message: discord.Message) -> None:
    await message.channel.send(f"You said: {message.content}")


def stage_of(news: dict[str, list[dict[str, str]]]) -> int:
    return int(news["places"][0]["id"])


async def test_the_page_lists_people_and_places() -> None:
    async with site_of(SmallBot()) as (_, visitor):
        news = await visitor.news("ada")
    assert [one["name"] for one in news["people"]] == ["Grace", "Ada", "Ben"]
    assert [(one["kind"], one["name"]) for one in news["places"]] == [
        ("channel", "mr-bennets-study"),
        ("thread", "the-garden-path"),
        ("channel", "reading-room"),
        ("dm", "Aside"),
    ]


async def test_messages_appear_in_every_window() -> None:
    async with site_of(SmallBot(echo)) as (_, visitor):
        stage = stage_of(await visitor.news())
        ada = await visitor.window("ada", stage)
        ben = await visitor.window("ben", stage)
        receipt = await ada.act("send_message", content="Hello?")
        assert receipt["settlement"] == "settled"
        await until(lambda: ben.says("You said: Hello?"))
        assert [message["author"]["name"] for message in await ben.messages()] == ["Ada", "Aside"]


async def test_an_action_on_a_slightly_old_page_works() -> None:
    async with site_of(SmallBot(echo)) as (_, visitor):
        stage = stage_of(await visitor.news())
        ada = await visitor.window("ada", stage)
        ben = await visitor.window("ben", stage)
        await ada.act("send_message", content="Hello?")
        # Ben's page has changed since he opened it.
        await until(lambda: ben.says("You said: Hello?"))
        assert (await ben.act("send_message", content="Hello, Ada!"))["settlement"] == "settled"


async def test_two_pages_of_one_person_stay_in_step() -> None:
    async with site_of(SmallBot()) as (_, visitor):
        stage = stage_of(await visitor.news())
        first = await visitor.window("ada", stage)
        second = await visitor.window("ada", stage)
        await first.act("send_message", content="Hello?")
        await until(lambda: second.says("Hello?"))


async def test_a_message_over_the_limit_is_rejected_as_on_discord() -> None:
    async with site_of(SmallBot(echo)) as (_, visitor):
        ada = await visitor.window("ada", stage_of(await visitor.news()))
        receipt = await ada.act("send_message", content="a" * 5000)
        assert receipt["rejected"]
        assert await ada.messages() == []


async def test_a_direct_message_is_visible_only_to_its_recipient() -> None:
    async def whisper(message: discord.Message) -> None:
        await message.author.send("Between us.")

    async with site_of(SmallBot(whisper)) as (_, visitor):
        ada = await visitor.window("ada", stage_of(await visitor.news()))
        await ada.act("send_message", content="Psst!")
        talks = {
            person: int((await visitor.news(person))["places"][-1]["id"])
            for person in ("ada", "ben")
        }
        talk = await visitor.window("ada", talks["ada"])
        await until(lambda: talk.says("Between us."))
        assert (await visitor.news("ada"))["places"][-1]["messages"] == 1
        assert (await visitor.news("ben"))["places"][-1]["messages"] == 0
        status, answer = await visitor.ask("window", {"person": "ben", "place": talks["ada"]})
        assert status == 400, answer


async def test_requests_without_the_key_are_rejected() -> None:
    async with site_of(SmallBot()) as (site, _), aiohttp.ClientSession() as session:
        root = f"http://127.0.0.1:{site.port}"
        async with session.get(f"{root}/api/state") as answer:
            assert answer.status == 401
        async with session.post(f"{root}/aside/step", json={"step": "start"}) as answer:
            assert answer.status == 401


async def test_requests_for_another_host_are_rejected() -> None:
    async with site_of(SmallBot()) as (site, _), aiohttp.ClientSession() as session:
        headers = {"Host": f"evil.example:{site.port}"}
        async with session.get(f"http://127.0.0.1:{site.port}/", headers=headers) as answer:
            assert answer.status == 403


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("news", {"person": "nobody"}),
        ("news", None),
        ("window", {"person": "ada", "place": 5}),
        ("window", {"person": "ada"}),
        ("step", {"step": "leap"}),
        ("step", ["start"]),
        ("menu", {"person": "ada", "place": "x", "message": "1", "name": "Show thoughts"}),
    ],
)
async def test_a_malformed_request_is_rejected_in_one_sentence(what: str, body: object) -> None:
    async with site_of(SmallBot()) as (_, visitor):
        status, answer = await visitor.ask(what, body)
    assert status == 400
    assert answer["error"].endswith(".")


async def test_an_impossible_step_is_rejected_in_one_sentence() -> None:
    async with site_of(SmallBot()) as (_, visitor):
        status, answer = await visitor.ask("step", {"step": "start"})
    assert status == 409
    assert "scene" in answer["error"]


async def test_the_page_loads_only_local_files() -> None:
    async with site_of(SmallBot()) as (site, _), aiohttp.ClientSession() as session:
        root = f"http://127.0.0.1:{site.port}"
        for page in ("/", "/window"):
            async with session.get(root + page) as answer:
                text = await answer.text()
                assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
            files = re.findall(r'(?:href|src)="([^"]+)"', text)
            assert len(files) >= 2
            for file in files:
                async with session.get(root + file) as answer:
                    assert answer.status == 200, file


def test_a_used_port_is_reported_in_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserInputError, match=rf"Port {port} .*--port"):
            listen(port)


def test_the_page_has_no_external_addresses() -> None:
    page = Path(__file__).parents[2] / "bot/tryout/page"
    for file in page.iterdir():
        assert "://" not in file.read_text(), file
