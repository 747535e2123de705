"""Openings: who may open a thought, to whom, and which thought."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.errors import Refused, Remedy
from bot.scenes.insight import MAX_DIFFICULTY, Insight
from bot.scenes.reveal import Audience
from bot.scenes.story_events import Speaker
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness, reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.scenes.scene import Place, Scene
    from bot.scenes.scene_queries import HiddenThoughts
    from tests.scenes.scene_harness import TheatreHarness

BENNET = reply("Mr Bennet", plan="PLAN", thinks="SECRET", says="You refuse him, then?")
ALICE_SPEAKS, BOB_SPEAKS = Speaker(ALICE, "Alice"), Speaker(BOB, "Bob")


@dataclass
class Readers:
    """Implements PlaceAccess."""

    departed: set[int] = field(default_factory=set)

    async def is_reader(self, _place: Place, user_id: int) -> bool:
        return user_id not in self.departed


@dataclass
class InsightHarness:
    """A scene with one reply, and dice that roll `rolled`."""

    harness: TheatreHarness
    insight: Insight
    readers: Readers
    scene: Scene
    rolled: int = 10

    async def current(self) -> Scene:
        running = self.harness.theatre.find_running(self.scene.id)
        assert running is not None
        return running.scene


@asynccontextmanager
async def open_insight(folder: Path) -> AsyncIterator[InsightHarness]:
    async with open_harness(folder, BENNET) as harness:
        scene = await harness.start()
        readers = Readers()
        rolls: list[InsightHarness] = []
        insight = Insight(
            harness.theatre,
            harness.store,
            readers,
            lambda: datetime.now(UTC),
            lambda _: rolls[0].rolled,
        )
        rolls.append(InsightHarness(harness, insight, readers, scene))
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        yield rolls[0]


def texts(thoughts: HiddenThoughts | None) -> list[str]:
    return [one.beat.text for one in thoughts.released] if thoughts else []


async def test_a_roll_that_reaches_the_difficulty_opens_the_thoughts_to_its_player(
    tmp_path: Path,
) -> None:
    async with open_insight(tmp_path) as play:
        await play.insight.set_difficulty(play.scene, "papa", 11, GM)
        missed = await play.insight.attempt(play.scene, "Mr Bennet", ALICE_SPEAKS)
        assert missed.thoughts is None
        play.rolled = 11
        reached = await play.insight.attempt(play.scene, "Mr Bennet", BOB_SPEAKS)
        assert texts(reached.thoughts) == ["SECRET"]
        assert reached.thoughts is not None
        assert {(one.audience, one.reader_id) for one in reached.thoughts.released} == {
            (Audience.PLAYER, BOB)
        }
        turn = (await play.harness.store.turns(play.scene.id))[-1]
        assert await play.harness.store.read_opened_thoughts(turn.id, ALICE) == ()
        assert len(await play.harness.store.read_opened_thoughts(turn.id, BOB)) == 1


async def test_each_player_tries_once_for_a_reply(tmp_path: Path) -> None:
    async with open_insight(tmp_path) as play:
        await play.insight.set_difficulty(play.scene, "Mr Bennet", 11, GM)
        await play.insight.attempt(play.scene, "Mr Bennet", ALICE_SPEAKS)
        with pytest.raises(Refused, match="already tried"):
            await play.insight.attempt(play.scene, "Mr Bennet", ALICE_SPEAKS)
        await play.insight.open_latest(play.scene, "Mr Bennet", ALICE, GM)
        turn = (await play.harness.store.turns(play.scene.id))[-1]
        assert len(await play.harness.store.read_opened_thoughts(turn.id, ALICE)) == 1


async def test_without_a_difficulty_or_a_thought_no_one_can_try(tmp_path: Path) -> None:
    async with open_insight(tmp_path) as play:
        with pytest.raises(Refused) as refusal:
            await play.insight.attempt(play.scene, "Mr Bennet", ALICE_SPEAKS)
        assert refusal.value.remedy is Remedy.SET_INSIGHT
        with pytest.raises(Refused, match="must be 1 to"):
            await play.insight.set_difficulty(play.scene, "Mr Bennet", MAX_DIFFICULTY + 1, GM)
        await play.insight.set_difficulty(play.scene, "Mrs Bennet", 1, GM)
        with pytest.raises(Refused, match="no thought yet"):
            await play.insight.attempt(play.scene, "Mrs Bennet", ALICE_SPEAKS)
        await play.insight.set_difficulty(play.scene, "Mrs Bennet", None, GM)
        with pytest.raises(Refused, match="no difficulty"):
            await play.insight.attempt(play.scene, "Mrs Bennet", ALICE_SPEAKS)


async def test_only_game_masters_open_thoughts_and_only_to_players_who_are_there(
    tmp_path: Path,
) -> None:
    async with open_insight(tmp_path) as play:
        turn = (await play.harness.store.turns(play.scene.id))[-1]
        assert turn.take is not None
        for refused in (
            play.insight.open_latest(play.scene, "Mr Bennet", BOB, ALICE),
            play.insight.open(turn.id, turn.take.id, BOB, ALICE),
            play.insight.list_readers(turn.id, ALICE),
            play.insight.set_difficulty(play.scene, "Mr Bennet", 1, ALICE),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await refused
        play.readers.departed.add(BOB)
        for reader in (BOB, GM):
            with pytest.raises(Refused):
                await play.insight.open(turn.id, turn.take.id, reader, GM)
        with pytest.raises(Refused, match="another version"):
            await play.insight.open(turn.id, turn.take.id + 1, ALICE, GM)
        assert texts(await play.insight.open(turn.id, turn.take.id, ALICE, GM)) == ["SECRET"]
        assert [one.name for one in await play.insight.list_readers(turn.id, GM)] == ["Alice"]


async def test_another_take_stays_closed(tmp_path: Path) -> None:
    async with open_insight(tmp_path) as play:
        await play.insight.open_latest(play.scene, "Mr Bennet", ALICE, GM)
        turn = (await play.harness.store.turns(play.scene.id))[-1]
        play.harness.engine.script[:] = [
            reply("Mr Bennet", thinks="ANOTHER", says="You take him, then?")
        ]
        await play.harness.takes.retake(turn.id, GM)
        await play.harness.wait_until_idle(play.scene)
        opened = await play.harness.store.read_opened_thoughts(turn.id, ALICE)
        assert [beat.text for beat in opened] == ["SECRET"]


async def test_an_opening_goes_along_to_a_branch_and_away_with_its_player(tmp_path: Path) -> None:
    async with open_insight(tmp_path) as play:
        store = play.harness.store
        await play.insight.set_difficulty(play.scene, "Mr Bennet", 7, GM)
        await play.insight.open_latest(play.scene, "Mr Bennet", ALICE, GM)
        turn = (await store.turns(play.scene.id))[-1]
        place = play.scene.place
        branch = await store.branch(
            play.scene, turn.id, type(place)(place.guild_id, 99), datetime.now(UTC)
        )
        copy = (await store.turns(branch.id))[-1]
        assert len(await store.read_opened_thoughts(copy.id, ALICE)) == 1
        assert await store.insight_difficulty(branch.id, "Mr Bennet") == 7
        exported = [(one.speaker, one.text) for one in await store.lines_of(ALICE)]
        assert exported.count(("(opened thought of Mr Bennet)", "SECRET")) == 2
        await store.forget_person(ALICE)
        for one in (turn, copy):
            assert await store.read_opened_thoughts(one.id, ALICE) == ()


async def test_a_muted_person_and_a_paused_scene_get_no_roll(tmp_path: Path) -> None:
    async with open_insight(tmp_path) as play:
        await play.insight.set_difficulty(play.scene, "Mr Bennet", 1, GM)
        await play.harness.theatre.controls.pause(play.scene, GM)
        with pytest.raises(Refused, match="paused"):
            await play.insight.attempt(await play.current(), "Mr Bennet", ALICE_SPEAKS)
        with pytest.raises(Refused, match="every thought"):
            await play.insight.attempt(await play.current(), "Mr Bennet", Speaker(GM, "Fanny"))
