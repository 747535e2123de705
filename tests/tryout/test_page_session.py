"""The real bot on the simulated Discord, used through the page's requests."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from time import perf_counter
from typing import TYPE_CHECKING

import aiohttp

from bot.app import create_bot
from bot.library.library import Library
from bot.package_data import find_shipped_folder
from bot.settings import Settings, StoreSettings
from bot.tryout.loopback_port import listen
from bot.tryout.tryout_session import run_session
from tests.engine.scripted_engine import ScriptedEngine
from tests.scenes.scene_harness import reply
from tests.tryout.http_visitor import Pane, Visitor
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.tryout.site import Site

BENNET = reply(
    "Mr Bennet",
    plan="PLAN he stays dry.",
    thinks="SECRET dear Lizzy.",
    does="smiles",
    says="Well, well.",
)


@asynccontextmanager
async def serve_site(folder: Path, engine: ScriptedEngine) -> AsyncIterator[Site]:
    """Run the real bot with this engine and its files in `folder`."""
    settings = Settings(store=StoreSettings(path=folder / "aside.db"))
    scenario = Library([find_shipped_folder("personas")]).scenario("pride-and-prejudice")
    await engine.start()
    with listen(None) as server:
        async with run_session(
            lambda mine: create_bot(settings, engine=mine), engine, server, scenario
        ) as site:
            yield site


@asynccontextmanager
async def visited(folder: Path, engine: ScriptedEngine | None = None) -> AsyncIterator[Visitor]:
    """Visit such a site."""
    engine = engine or ScriptedEngine([BENNET])
    async with serve_site(folder, engine) as site, aiohttp.ClientSession() as session:
        yield Visitor(session, site)


async def place(visitor: Visitor, person: str, name: str) -> Pane:
    """Open a person's window for the place with this name."""
    places = (await visitor.news(person))["places"]
    return await visitor.window(
        person, next(int(one["id"]) for one in places if one["name"] == name)
    )


async def run(pane: Pane, command: str, **options: str) -> None:
    """Run a slash command as the picker does."""
    entry = (await pane.commands())[command]
    receipt = await pane.act(
        "run_command",
        command_id=entry["commandId"],
        path=entry["path"],
        schema_fingerprint=entry["schemaFingerprint"],
        options=options,
    )
    assert receipt["settlement"] == "settled", receipt


async def do(visitor: Visitor, step: str) -> None:
    """Do a step of the guided tour with its button."""
    assert await visitor.ask("step", {"step": step}) == (200, {"done": True})


async def test_the_guided_tour_leads_to_a_revealed_thought(tmp_path: Path) -> None:
    async with visited(tmp_path) as visitor:
        stage = await place(visitor, "ben", "mr-bennets-study")
        talk = await place(visitor, "grace", "Aside")
        assert (await visitor.news())["done"] == []
        for step in ("start", "join", "speak"):
            await do(visitor, step)
        await until(lambda: stage.says("*smiles* Well, well."))
        await until(lambda: talk.says("SECRET"))
        assert (await visitor.news())["done"] == ["start", "join", "speak", "answer"]
        assert not await stage.says("SECRET")
        await do(visitor, "reveal")
        await do(visitor, "speak")
        await until(lambda: stage.says("||"))
        assert (await visitor.news())["done"] == ["start", "join", "speak", "answer", "reveal"]


async def test_typing_completes_the_scenario(tmp_path: Path) -> None:
    async with visited(tmp_path) as visitor:
        stage = await place(visitor, "grace", "mr-bennets-study")
        entry = (await stage.commands())["scene start"]
        receipt = await stage.act(
            "autocomplete_command",
            command_id=entry["commandId"],
            path=entry["path"],
            schema_fingerprint=entry["schemaFingerprint"],
            options={},
            focused="scenario",
            value="study",
        )
    names = [choice["name"] for choice in receipt["result"]["choices"]]
    assert names == ["Mr Bennet's study · Pride and Prejudice"]


async def test_the_characters_have_avatars(tmp_path: Path) -> None:
    async with visited(tmp_path) as visitor:
        stage = await place(visitor, "ada", "mr-bennets-study")
        await do(visitor, "start")
        await do(visitor, "speak")
        await until(lambda: stage.says("Well, well."))
        author = (await stage.messages())[-1]["author"]
        assert author["name"] == "Mr Bennet"
        assert author["avatar_kind"] == "custom"
        assert author["avatar_available"]


async def test_a_scene_in_the_thread_stays_in_the_thread(tmp_path: Path) -> None:
    async with visited(tmp_path) as visitor:
        stage = await place(visitor, "grace", "mr-bennets-study")
        thread = await place(visitor, "grace", "the-garden-path")
        await run(thread, "scene start", scenario="pride-and-prejudice")
        await thread.act("send_message", content="@Mr Bennet A word, sir?")
        await until(lambda: thread.says("Well, well."))
        assert await stage.messages() == []


async def test_the_message_menu_shows_thoughts_only_to_the_game_master(
    tmp_path: Path,
) -> None:
    async with visited(tmp_path) as visitor:
        stage = await place(visitor, "grace", "mr-bennets-study")
        adas = await place(visitor, "ada", "mr-bennets-study")
        for step in ("start", "speak"):
            await do(visitor, step)
        await until(lambda: stage.says("Well, well."))
        post = (await stage.messages())[-1]
        asked = {"place": post["channel_id"], "message": post["id"], "name": "Show thoughts"}
        assert "Show thoughts" in (await visitor.news())["menus"]
        assert (await visitor.ask("menu", asked | {"person": "grace"}))[0] == 200
        assert (await visitor.ask("menu", asked | {"person": "ada"}))[0] == 200
        await until(lambda: stage.says("SECRET"))
        await until(lambda: adas.says("Only the game master"))
        assert not await adas.says("SECRET")


async def test_progress_is_shown_and_others_can_act_during_generation(tmp_path: Path) -> None:
    engine = ScriptedEngine([BENNET])
    async with visited(tmp_path, engine) as visitor:
        stage = await place(visitor, "ben", "mr-bennets-study")
        await do(visitor, "start")
        engine.gate.clear()
        began = perf_counter()
        await do(visitor, "speak")
        await until(lambda: engine.running == 1)
        await stage.act("send_message", content="(( is he asleep? ))")
        assert perf_counter() - began < 5
        assert [one["who"] for one in (await visitor.news())["thinking"]] == ["Mr Bennet"]
        engine.gate.set()
        await until(lambda: stage.says("Well, well."))
        assert (await visitor.news())["thinking"] == []


async def test_closing_in_the_middle_of_a_reply_is_quick(tmp_path: Path) -> None:
    engine = ScriptedEngine([BENNET])
    async with visited(tmp_path, engine) as visitor:
        for step in ("start", "speak"):
            engine.gate.clear()
            await do(visitor, step)
        await until(lambda: engine.running == 1)
        began = perf_counter()
    assert perf_counter() - began < 5
    assert engine.running == 0
    left = [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert left == []
