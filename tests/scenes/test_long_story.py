"""A story of 500 turns and five characters, with whispers, absences and undone turns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import pytest

from bot.library.scenario import Character, Scenario
from bot.scenes.mind import build_sheet
from bot.scenes.prefetch import find_shared_text
from bot.scenes.story_events import Speaker
from bot.scenes.turn import TurnKind
from tests.engine.scripted_engine import Scripted
from tests.scenes.gm_harness import open_gm_harness
from tests.scenes.scene_harness import ALICE, GM, reply

if TYPE_CHECKING:
    from pathlib import Path

    from bot.engine.protocol import Request
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.scenes.gm_harness import GmHarness
    from tests.scenes.scene_harness import TheatreHarness

pytestmark = pytest.mark.slow

NAMES = ("Mr Bennet", "Mrs Bennet", "Jane Bennet", "Elizabeth Bennet", "Mr Darcy")
HOUSE = Scenario(
    id="house",
    title="A house in Hertfordshire",
    book="Pride and Prejudice",
    summary="Everybody has a secret.",
    setting="A drawing room.",
    characters=tuple(
        Character(name=name, profile=f"PROFILE of {name}.", motivation=f"AIM of {name}.")
        for name in NAMES
    ),
)
CONTEXT = 4000
BUDGET = CONTEXT * 3 // 4
MARK = re.compile(r"FACT-\d+")


def in_one_chunk(text: str) -> Scripted:
    return Scripted(text, chunk=len(text))


@dataclass
class Players:
    """Plays the characters and writes memories. Every turn and every thought has a mark."""

    number: int = 0
    prompts: dict[str, str] = field(default_factory=dict)  # by mind, the last one
    replies: int = 0
    tokens_read: int = 0
    tokens_trimmed: int = 0  # that trimming from the front would have read

    def mark(self) -> str:
        self.number += 1
        return f"FACT-{self.number}"

    def __call__(self, request: Request) -> Scripted:
        text = request.prompt.text
        if request.background:
            marks = " ".join(dict.fromkeys(MARK.findall(text)))
            return in_one_chunk(f"It was about {marks} and nothing else.")
        self._count(request.mind, text)
        name = request.speaker
        return in_one_chunk(
            reply(name, thinks=self.mark(), does="nods", says=f"{self.mark()}, I dare say.")
        )

    def _count(self, mind: str, text: str) -> None:
        before = self.prompts.get(mind, "")
        self.prompts[mind] = text
        if "memory of the story so far:" in text:  # the context has been full
            system = text.index("===Conversation Start===")
            self.replies += 1
            self.tokens_read += (len(text) - len(find_shared_text(before, text))) // 4
            self.tokens_trimmed += BUDGET - system // 4


async def settle(harness: TheatreHarness, scene: Scene) -> None:
    running = harness.theatre.find_running(scene.id)
    assert running is not None
    await running.runner.wait_until_remembered()


async def play(gm: GmHarness, scene: Scene, players: Players, turns: int) -> None:
    """Play a story with lines, replies, whispers, and characters that come and go.

    Every second line is for a character, which answers. At the end all are on stage.
    """
    chance = Random(7)
    harness = gm.harness
    absent = ""
    for number in range(turns * 2 // 3):
        name = NAMES[number % len(NAMES)]
        if name == absent:
            await gm.gm_actions.enter_stage(scene, absent, GM)
            absent = ""
        if number % 11 == 5:
            await gm.story_events.whisper(scene, name, players.mark(), Speaker(ALICE, "Alice"))
        else:
            addressed = (name,) if number % 2 == 0 else ()
            await harness.say(scene, f"{players.mark()}, so they say.", *addressed)
        await settle(harness, scene)
        if number % 13 == 0 and not absent:
            absent = chance.choice([other for other in NAMES if other != name])
            await gm.gm_actions.leave_stage(scene, absent, GM)
        check_prompts(harness)
    if absent:
        await gm.gm_actions.enter_stage(scene, absent, GM)


def check_prompts(harness: TheatreHarness) -> None:
    """Check the prompts since the last check, and forget them."""
    for request in harness.engine.requests:
        text = request.prompt.text
        assert -(-len(text) // 4) <= BUDGET
        if not request.background:
            person = HOUSE.character(request.speaker)
            assert f"PROFILE of {person.name}." in text
            assert f"AIM of {person.name}." in text
            sheet = build_sheet(HOUSE, person)
            assert sheet.requirements.replace("{character}", person.name) in text
    harness.engine.requests.clear()


def list_known(story: list[Turn]) -> dict[str, set[str]]:
    """Return the marks that each mind may have, by the rules and not by the program's code."""
    known: dict[str, set[str]] = {name: set() for name in NAMES}
    for turn in story:
        for name in NAMES:
            own = turn.speaker == name
            if own or turn.heard_by is None or name in turn.heard_by:
                for beat in turn.take.beats if turn.take else ():
                    if beat.kind in ("speech", "action") or (own and beat.kind == "thought"):
                        known[name] |= set(MARK.findall(beat.text))
    return known


async def read_memories(harness: TheatreHarness, scene: Scene, name: str) -> str:
    texts = []
    waiting: list[int | None] = [None]
    while waiting:
        for memory in await harness.store.memories(scene.id, name, waiting.pop()):
            texts.append(memory.text)
            waiting.append(memory.id)
    return "\n".join(texts)


async def test_five_minds_keep_their_own_view_of_five_hundred_turns(tmp_path: Path) -> None:
    players = Players()
    async with open_gm_harness(tmp_path, players) as gm:
        harness = gm.harness
        harness.engine.context = CONTEXT
        scene = await harness.start(scenario=HOUSE)
        await play(gm, scene, players, 500)

        story = await harness.store.turns(scene.id)
        assert len(story) >= 490
        known = list_known(story)
        for name in NAMES:
            memories = await read_memories(harness, scene, name)
            prompt = players.prompts[f"{scene.id}/{name}"]
            assert set(MARK.findall(memories)) <= known[name]
            assert set(MARK.findall(prompt)) <= known[name]
            assert len(set(MARK.findall(memories))) > 100
        assert players.replies > 80
        assert players.tokens_read <= players.tokens_trimmed / 4

        hidden = [story[place] for place in (2, 90, 91, 200, 400)]
        hidden += [turn for turn in story if turn.kind is TurnKind.WHISPER][1:2]
        assert {turn.kind for turn in hidden} == {TurnKind.LINE, TurnKind.REPLY, TurnKind.WHISPER}
        gone = {
            mark
            for turn in hidden
            for beat in (turn.take.beats if turn.take else ())
            for mark in MARK.findall(beat.text)
        }
        for turn in hidden:
            await harness.undo.hide(turn.id, GM)
        await settle(harness, scene)
        players.prompts.clear()  # an earlier prompt may have the turns that are now gone
        for name in NAMES:
            await harness.say(scene, "And now?", name)
            await settle(harness, scene)
        for name in NAMES:
            memories = await read_memories(harness, scene, name)
            prompt = players.prompts[f"{scene.id}/{name}"]
            assert "And now?" in prompt
            assert len(set(MARK.findall(memories))) > 100
            assert not gone & set(MARK.findall(memories))
            assert not gone & set(MARK.findall(prompt))
        check_prompts(harness)
