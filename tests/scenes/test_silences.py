"""A line that was not heard when it was written is not heard later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bot.scenes.director import Addressee
from bot.scenes.gm_actions import GmActions
from bot.scenes.player_lines import IncomingLine
from bot.scenes.silences import Silences, current_silences
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness, reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from bot.scenes.scene import Scene
    from tests.scenes.scene_harness import TheatreHarness

BENNET = reply("Mr Bennet", says="You refuse him?")


@dataclass
class Silenced:
    """A scene with a silence that has ended, and a moment before, during and after it."""

    scene: Scene
    before: datetime
    during: datetime
    after: datetime


async def pause(harness: TheatreHarness, scene: Scene) -> None:
    await harness.theatre.controls.pause(scene, GM)


async def unpause(harness: TheatreHarness, scene: Scene) -> None:
    paused = harness.theatre.require_scene(scene.place.channel_id)
    await harness.theatre.controls.unpause(paused, GM)


async def mute(harness: TheatreHarness, scene: Scene) -> None:
    await GmActions(harness.theatre, harness.store).mute(scene, ALICE, GM)


async def unmute(harness: TheatreHarness, scene: Scene) -> None:
    await GmActions(harness.theatre, harness.store).unmute(scene, ALICE, GM)


async def leave_stage(harness: TheatreHarness, scene: Scene) -> None:
    await harness.theatre.controls.join(scene, ALICE, "Elizabeth")
    await GmActions(harness.theatre, harness.store).leave_stage(scene, None, ALICE)


async def enter_stage(harness: TheatreHarness, scene: Scene) -> None:
    await GmActions(harness.theatre, harness.store).enter_stage(scene, None, ALICE)


SILENCES = [(pause, unpause), (mute, unmute), (leave_stage, enter_stage)]


def now() -> datetime:
    return datetime.now(UTC)


async def silence(
    harness: TheatreHarness,
    begin: Callable[[TheatreHarness, Scene], Awaitable[None]],
    end: Callable[[TheatreHarness, Scene], Awaitable[None]],
) -> Silenced:
    scene = await harness.start()
    before = now()
    await begin(harness, scene)
    during = now()
    await end(harness, scene)
    return Silenced(harness.theatre.require_scene(10), before, during, now())


async def hear(
    harness: TheatreHarness, text: str, written_at: datetime, *to: str, author: int = ALICE
) -> bool:
    """Hear a line that the bot missed when it was written."""
    scene = harness.theatre.require_scene(10)
    line = IncomingLine(author, "Alice", next(harness.ids), text, missed_at=written_at)
    return await harness.player_lines.hear(scene, line, Addressee(to))


@pytest.mark.parametrize(("begin", "end"), SILENCES)
@pytest.mark.parametrize("restart", [False, True])
async def test_a_line_from_a_silence_is_not_heard_at_the_catch_up(
    tmp_path: Path,
    begin: Callable[[TheatreHarness, Scene], Awaitable[None]],
    end: Callable[[TheatreHarness, Scene], Awaitable[None]],
    restart: bool,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        silenced = await silence(harness, begin, end)
        if not restart:
            assert not await hear(harness, "MARMALADE?", silenced.during, "Mr Bennet")
    async with open_harness(tmp_path, BENNET) as harness:
        assert not await hear(harness, "MARMALADE?", silenced.during, "Mr Bennet")
        assert await hear(harness, "Earlier?", silenced.before)
        assert await hear(harness, "Later?", silenced.after, "Mr Bennet")
        await harness.wait_until_idle(silenced.scene)
        assert [text for _, text in await harness.read_story(silenced.scene)] == [
            "Earlier?",
            "Later?",
            "smiles You refuse him?",
        ]


async def test_other_people_are_heard_while_one_is_muted(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        silenced = await silence(harness, mute, unmute)
        assert await hear(harness, "I am heard.", silenced.during, author=BOB)


async def test_a_silence_that_lasts_counts_after_a_restart(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        before = now()
        await pause(harness, scene)
    async with open_harness(tmp_path, BENNET) as harness:
        assert not await hear(harness, "MARMALADE?", now(), "Mr Bennet")
        assert await hear(harness, "Papa?", before, "Mr Bennet")
        assert harness.engine.requests == []
        await unpause(harness, scene)
        await harness.wait_until_idle(scene)
        assert [text for _, text in await harness.read_story(scene)] == ["Papa?"]


async def test_the_characters_on_stage_at_that_time_hear_a_missed_line(tmp_path: Path) -> None:
    async with open_harness(tmp_path, reply("Mrs Bennet", says="My nerves!")) as harness:
        actions = GmActions(harness.theatre, harness.store)
        scene = await harness.start()
        await actions.leave_stage(scene, "Mr Bennet", GM)
        during = now()
        await actions.enter_stage(scene, "Mr Bennet", GM)
        assert await hear(harness, "MARMALADE?", during, "Mr Bennet", "Mrs Bennet")
        await harness.wait_until_idle(scene)
        line, answer = await harness.theatre.queries.read_history(scene)
        assert line.heard_by == frozenset({"Mrs Bennet", "Elizabeth Bennet"})
        assert (answer.speaker, answer.heard_by) == ("Mrs Bennet", None)
        prompt = await harness.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        assert "MARMALADE" not in prompt


async def test_a_line_of_someone_muted_since_is_heard_and_not_answered(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        before = now()
        await mute(harness, scene)
        assert await hear(harness, "Papa?", before, "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert harness.engine.requests == []


async def test_a_line_from_before_a_clear_is_not_heard_at_the_catch_up(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        before = now()
        await harness.theatre.controls.clear(scene, GM)
        assert not await hear(harness, "MARMALADE?", before, "Mr Bennet")
        assert await hear(harness, "Papa?", now() + timedelta(seconds=1), "Mr Bennet")


async def test_an_ended_pause_stays_closed_when_the_scene_is_reopened(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await pause(harness, scene)
        during = now()
        await harness.theatre.end(harness.theatre.require_scene(10), GM)
        await harness.theatre.reopen(scene.id, scene.place, (GM,), 0)
        assert await harness.store.silences_at(scene.id, now()) == Silences()
        assert not await hear(harness, "MARMALADE?", during)


async def test_silences_are_those_of_the_scene(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await leave_stage(harness, scene)
        await GmActions(harness.theatre, harness.store).mute(scene, BOB, GM)
        scene = harness.theatre.require_scene(10)
        expected = Silences(False, frozenset({ALICE, BOB}), frozenset({"Elizabeth Bennet"}))
        assert current_silences(scene) == expected
        assert await harness.store.silences_at(scene.id, now()) == expected
