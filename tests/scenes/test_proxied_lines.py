"""Posts of proxy bots whose line is late, unknown or withdrawn."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

from bot.scenes.director import Addressee
from bot.scenes.player_lines import IncomingLine
from bot.scenes.proxied_lines import ProxiedLines
from tests.scenes.scene_harness import ALICE, BOB, open_harness, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.scenes.scene import Scene
    from tests.scenes.scene_harness import TheatreHarness

BENNET = reply("Mr Bennet", says="You refuse him, then?")
SOON = timedelta(milliseconds=10)
LATER = timedelta(minutes=5)
NOWHERE = Addressee()


@asynccontextmanager
async def open_proxied(
    folder: Path, grace: timedelta
) -> AsyncIterator[tuple[TheatreHarness, ProxiedLines, Scene]]:
    async with open_harness(folder, BENNET) as harness:
        proxied = ProxiedLines(
            harness.theatre,
            harness.store,
            harness.player_lines,
            harness.line_changes,
            harness.recent,
            lambda: datetime.now(UTC),
            grace,
        )
        try:
            yield harness, proxied, await harness.start()
        finally:
            await proxied.close()


def a_post(message_id: int, text: str, name: str = "Brave Alice") -> IncomingLine:
    return IncomingLine(0, name, message_id, text)


async def test_a_deleted_line_that_is_not_posted_again_leaves_the_story(tmp_path: Path) -> None:
    async with open_proxied(tmp_path, SOON) as (harness, proxied, scene):
        message = await harness.say(scene, "I like MARMALADE.")
        await proxied.withdraw(scene, message)

        async def gone() -> bool:
            return not await harness.read_story(scene)

        await until(gone)


async def test_a_post_after_the_withdrawal_is_a_new_line_of_its_author(tmp_path: Path) -> None:
    async with open_proxied(tmp_path, SOON) as (harness, proxied, scene):
        message = await harness.say(scene, "A: I like HONEY.")
        await proxied.withdraw(scene, message)

        async def gone() -> bool:
            return not await harness.read_story(scene)

        await until(gone)
        await proxied.hear(scene, a_post(2000, "I like HONEY."), NOWHERE)
        (turn,) = await harness.store.turns(scene.id)
        assert (turn.speaker, turn.author_id) == ("Brave Alice", ALICE)


async def test_a_post_that_belongs_to_no_line_is_reported_once(tmp_path: Path) -> None:
    async with open_proxied(tmp_path, SOON) as (harness, proxied, scene):
        await proxied.hear(scene, a_post(2000, "Who am I?"), NOWHERE)
        await proxied.hear(scene, a_post(2001, "Who are you?"), NOWHERE)
        await until(lambda: bool(harness.delivery.notices))
        assert await harness.read_story(scene) == []
        assert len(harness.delivery.notices) == 1


async def test_a_post_waits_for_its_line(tmp_path: Path) -> None:
    async with open_proxied(tmp_path, LATER) as (harness, proxied, scene):
        await proxied.hear(scene, a_post(2000, "Good evening!"), NOWHERE)
        await harness.say(scene, "A: Good evening!")
        await proxied.match_waiting(scene)
        assert await harness.read_story(scene) == [("Brave Alice", "Good evening!")]


async def test_a_line_with_several_tags_becomes_several_lines_of_its_author(
    tmp_path: Path,
) -> None:
    async with open_proxied(tmp_path, LATER) as (harness, proxied, scene):
        await harness.say(scene, "A: Good evening!\nB: Hm.")
        await proxied.hear(scene, a_post(2000, "Good evening!"), NOWHERE)
        await proxied.hear(scene, a_post(2001, "Hm.", "Sly Alice"), NOWHERE)
        turns = await harness.store.turns(scene.id)
        assert [(turn.speaker, turn.author_id) for turn in turns] == [
            ("Brave Alice", ALICE),
            ("Sly Alice", ALICE),
        ]


async def test_a_post_that_the_proxy_bot_moves_to_another_name_stays_one_line(
    tmp_path: Path,
) -> None:
    async with open_proxied(tmp_path, LATER) as (harness, proxied, scene):
        await harness.say(scene, "A: Good evening!")
        await proxied.hear(scene, a_post(2000, "Good evening!"), NOWHERE)
        await proxied.withdraw(scene, 2000)
        await proxied.hear(scene, a_post(2001, "Good evening!", "Sly Alice"), NOWHERE)
        assert await harness.read_story(scene) == [("Sly Alice", "Good evening!")]


async def test_a_replaced_message_that_discord_repeats_is_not_heard_again(tmp_path: Path) -> None:
    async with open_proxied(tmp_path, LATER) as (harness, proxied, scene):
        message = await harness.say(scene, "A: Good evening!")
        await proxied.hear(scene, a_post(2000, "Good evening!"), NOWHERE)
        await proxied.hear(scene, a_post(2000, "Good evening!"), NOWHERE)
        harness.ids = count(message)
        await harness.say(scene, "A: Good evening!")
        assert await harness.read_story(scene) == [("Brave Alice", "Good evening!")]


async def test_a_part_keeps_its_name_and_a_persona_cannot_imitate_a_character(
    tmp_path: Path,
) -> None:
    async with open_proxied(tmp_path, LATER) as (harness, proxied, scene):
        await harness.say(scene, "A: I am he.")
        await proxied.hear(scene, a_post(2000, "I am he.", "Mr Bennet"), NOWHERE)
        joined = await harness.theatre.controls.join(scene, BOB, "elizabeth")
        await harness.say(joined, "B: I am not.", author=BOB, name="Bob")
        await proxied.hear(joined, a_post(2001, "I am not.", "Mr Bennet"), NOWHERE)
        assert await harness.read_story(scene) == [
            ("Mr Bennet (player)", "I am he."),
            ("Elizabeth Bennet", "I am not."),
        ]


async def test_words_that_a_proxy_bot_reveals_are_answered(tmp_path: Path) -> None:
    async with open_proxied(tmp_path, LATER) as (harness, proxied, scene):
        await harness.say(scene, "((Papa?))", "Mr Bennet")
        await proxied.hear(scene, a_post(2000, "Papa?"), Addressee(("Mr Bennet",)))
        await harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in await harness.read_story(scene)] == [
            "Brave Alice",
            "Mr Bennet",
        ]
        post = replace(a_post(2000, "Papa?"), display_name="Sly Alice")
        await proxied.hear(scene, post, Addressee(("Mr Bennet",)))
        await harness.wait_until_idle(scene)
        assert len(harness.engine.requests) == 1
