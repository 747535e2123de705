"""What leaves a mind's prompt is remembered from its own view, and nothing else is."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from bot.errors import EngineBusy, EngineDied
from bot.scenes.memories import MemoryLayer, MindMemory, choose_group, split_into_blocks
from bot.scenes.memory_text import read_memory
from bot.scenes.scene import Place
from bot.scenes.story_events import Speaker
from tests.scenes.gm_harness import open_gm_harness
from tests.scenes.scene_harness import ALICE, GM, open_harness, reply

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bot.engine.protocol import Request
    from bot.errors import EngineError
    from bot.scenes.scene import Scene
    from tests.scenes.scene_harness import TheatreHarness

MARK = re.compile(r"[A-Z]+-\d+")
CONTEXT = 2000
ROLES = ("Mr Bennet", "Mrs Bennet")


class Player:
    """Answers requests: replies with unique marks, and memories that repeat every mark they see."""

    def __init__(self) -> None:
        self.number = 0
        self.memories = 0
        self.refusal: EngineError | None = None

    def __call__(self, request: Request) -> str | EngineError:
        text = request.prompt.text
        if request.background:
            self.memories += 1
            marks = " ".join(dict.fromkeys(MARK.findall(text)))
            return self.refusal or f"He remembers {marks} and no more."
        self.number += 1
        name = request.speaker
        return reply(
            name,
            thinks=f"THOUGHT-{self.number} of it.",
            says=f"SPEECH-{self.number}. " + "Ah. " * 30,
        )


async def settle(harness: TheatreHarness, scene: Scene) -> None:
    running = harness.theatre.find_running(scene.id)
    assert running is not None
    await running.runner.wait_until_remembered()


async def play(harness: TheatreHarness, scene: Scene, start: int, end: int) -> None:
    """Say numbered lines to the characters in turn."""
    for number in range(start, end):
        await harness.say(scene, f"LINE-{number}. " + "Oh. " * 20, ROLES[number % 2])
        await settle(harness, scene)


async def read_memories(harness: TheatreHarness, scene: Scene, name: str) -> list[MindMemory]:
    """Return a mind's memories of all layers."""
    found: list[MindMemory] = []
    waiting: list[int | None] = [None]
    while waiting:
        layer = await harness.store.memories(scene.id, name, waiting.pop())
        found += layer
        waiting += [memory.id for memory in layer]
    return sorted(found, key=lambda memory: (memory.layer, memory.first_id))


def marks(memories: list[MindMemory]) -> set[str]:
    return {mark for memory in memories for mark in MARK.findall(memory.text)}


def last_prompt(harness: TheatreHarness, name: str) -> str:
    requests = (one for one in reversed(harness.engine.requests) if one.speaker == name)
    return next(requests).prompt.text


async def test_what_leaves_was_remembered_before_and_its_place_is_the_background(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, Player(), context=CONTEXT) as harness:
        scene = await harness.start()
        await play(harness, scene, 0, 40)
        for name in ROLES:
            prompt = last_prompt(harness, name)
            background = prompt[prompt.index("===Background===") : prompt.index("===Current")]
            assert f"{name}'s memory of the story so far:" in background
            assert "LINE-0" in background
            assert "The last words that" not in background  # every block had been prepared
            start = await harness.store.window_start(scene.id, name)
            assert start > 0
            story = await harness.theatre.queries.read_history(scene)
            known = set(MARK.findall(prompt))
            missing = [
                turn.id
                for turn in story
                if turn.take
                and not known & set(MARK.findall(turn.take.beats[-1].text))
                and not known & set(MARK.findall(turn.take.beats[0].text))
            ]
            assert set(missing) <= {turn.id for turn in story[-3:]}  # said after this prompt


async def test_a_memory_has_its_own_thoughts_and_never_those_of_others(tmp_path: Path) -> None:
    async with open_harness(tmp_path, Player(), context=CONTEXT) as harness:
        scene = await harness.start()
        await play(harness, scene, 0, 40)
        thoughts: dict[str, set[str]] = {}
        for turn in await harness.theatre.queries.read_history(scene):
            text = turn.take.raw if turn.take else ""
            thoughts.setdefault(turn.speaker, set()).update(re.findall(r"THOUGHT-\d+", text))
        for name, other in (ROLES, ROLES[::-1]):
            remembered = marks(await read_memories(harness, scene, name))
            assert remembered & thoughts[name]
            assert not remembered & thoughts[other]
            assert not set(MARK.findall(last_prompt(harness, name))) & thoughts[other]


async def test_whispers_and_turns_off_stage_stay_with_those_who_heard_them(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, Player()) as gm:
        harness = gm.harness
        harness.engine.context = CONTEXT
        scene = await harness.start()
        await gm.story_events.whisper(scene, "Mr Bennet", "WHISPER-1", Speaker(ALICE, "Alice"))
        await gm.gm_actions.leave_stage(scene, "Mrs Bennet", GM)
        await harness.say(scene, "ABSENT-1.", "Mr Bennet")
        await settle(harness, scene)
        await gm.gm_actions.enter_stage(scene, "Mrs Bennet", GM)
        await play(harness, scene, 0, 40)
        his = marks(await read_memories(harness, scene, "Mr Bennet"))
        hers = marks(await read_memories(harness, scene, "Mrs Bennet"))
        assert {"WHISPER-1", "ABSENT-1"} <= his
        assert hers
        assert not hers & {"WHISPER-1", "ABSENT-1"}
        assert "WHISPER-1" in last_prompt(harness, "Mr Bennet")
        assert "ABSENT-1" not in last_prompt(harness, "Mrs Bennet")


async def test_memories_have_layers_that_rest_on_the_turns(tmp_path: Path) -> None:
    async with open_harness(tmp_path, Player(), context=CONTEXT) as harness:
        scene = await harness.start()
        await play(harness, scene, 0, 110)
        memories = await read_memories(harness, scene, "Mr Bennet")
        layers = {memory.layer for memory in memories}
        assert layers == {MemoryLayer.TURNS, MemoryLayer.CHAPTER, MemoryLayer.WHOLE}
        blocks = [memory for memory in memories if memory.layer is MemoryLayer.TURNS]
        for memory in blocks:
            assert memory.turn_ids
            assert memory.first_id == memory.turn_ids[0]
            assert memory.last_id == memory.turn_ids[-1]
        for layer in layers:
            ranges = [(one.first_id, one.last_id) for one in memories if one.layer is layer]
            assert all(one[1] < other[0] for one, other in pairwise(ranges))
        assert len(last_prompt(harness, "Mr Bennet")) // 4 <= CONTEXT * 3 // 4


Change = "Callable[[TheatreHarness, Scene, int], object]"


async def hide(harness: TheatreHarness, _: Scene, turn_id: int) -> None:
    await harness.undo.hide(turn_id, GM)


async def rewind(harness: TheatreHarness, _: Scene, turn_id: int) -> None:
    await harness.undo.rewind(turn_id - 1, GM)


async def edit(harness: TheatreHarness, scene: Scene, turn_id: int) -> None:
    turn = await harness.store.turn(turn_id)
    assert turn
    assert turn.message_id
    await harness.edit(scene, turn.message_id, "Never mind.")


async def clear(harness: TheatreHarness, scene: Scene, _: int) -> None:
    await harness.theatre.controls.clear(scene, GM)


async def forget(harness: TheatreHarness, _: Scene, __: int) -> None:
    await harness.store.forget_person(ALICE)


@pytest.mark.parametrize("change", [hide, rewind, edit, clear, forget])
async def test_a_turn_that_goes_leaves_no_trace(
    tmp_path: Path, change: Callable[[TheatreHarness, Scene, int], object]
) -> None:
    async with open_harness(tmp_path, Player(), context=CONTEXT) as harness:
        scene = await harness.start()
        await play(harness, scene, 0, 50)
        story = await harness.theatre.queries.read_history(scene)
        line = next(turn for turn in story if turn.take and "LINE-4." in turn.take.raw)
        assert "LINE-4" in marks(await read_memories(harness, scene, "Mr Bennet"))
        await change(harness, scene, line.id)  # type: ignore[misc]
        for name in ROLES:
            assert "LINE-4" not in marks(await read_memories(harness, scene, name))
        await play(harness, scene, 100, 104)
        for name in ROLES:
            assert "LINE-4" not in marks(await read_memories(harness, scene, name))
            assert not re.search(r"LINE-4\b", last_prompt(harness, name))
            if change is hide:
                assert "LINE-3" in last_prompt(harness, name)
                assert "LINE-5" in last_prompt(harness, name)
        written = [request.prompt.text for request in harness.engine.requests[-4:]]
        assert not any(re.search(r"LINE-4\b", text) for text in written)
    if change is forget:
        assert b"LINE-4." not in (tmp_path / "aside.db").read_bytes()


async def test_only_memories_of_those_who_heard_a_turn_are_written_again(tmp_path: Path) -> None:
    player = Player()
    async with open_gm_harness(tmp_path, player) as gm:
        harness = gm.harness
        harness.engine.context = CONTEXT
        scene = await harness.start()
        await gm.story_events.whisper(scene, "Mr Bennet", "WHISPER-1", Speaker(ALICE, "Alice"))
        await settle(harness, scene)
        await play(harness, scene, 0, 40)
        whisper = await harness.store.turn(1)
        assert whisper
        before = await read_memories(harness, scene, "Mrs Bennet")
        old = await read_memories(harness, scene, "Mr Bennet")
        player.refusal = EngineBusy("Busy.")
        await harness.store.hide_turns(scene.id, [whisper.id])
        assert await read_memories(harness, scene, "Mrs Bennet") == before
        his = await read_memories(harness, scene, "Mr Bennet")
        erased = [one for one in his if one.layer is MemoryLayer.TURNS and not one.text]
        assert [one.first_id for one in erased] == [1]
        assert len([one for one in his if one.layer is MemoryLayer.TURNS]) == len(
            [one for one in old if one.layer is MemoryLayer.TURNS]
        )


async def test_a_turn_that_comes_back_is_remembered_again(tmp_path: Path) -> None:
    async with open_harness(tmp_path, Player(), context=CONTEXT) as harness:
        scene = await harness.start()
        await play(harness, scene, 0, 40)
        await harness.undo.hide(1, GM)
        await settle(harness, scene)
        assert "LINE-0" not in marks(await read_memories(harness, scene, "Mr Bennet"))
        await harness.undo.unhide(scene.id, None, GM)
        await play(harness, scene, 40, 41)
        assert "LINE-0" in marks(await read_memories(harness, scene, "Mr Bennet"))


@pytest.mark.parametrize("refusal", [EngineBusy("Full."), EngineDied("Gone.")])
async def test_without_an_engine_the_last_lines_stand_in_and_nothing_fails(
    tmp_path: Path, refusal: EngineError
) -> None:
    player = Player()
    player.refusal = refusal
    async with open_harness(tmp_path, player, context=CONTEXT) as harness:
        scene = await harness.start()
        await play(harness, scene, 0, 30)
        prompt = last_prompt(harness, "Mr Bennet")
        assert "The last words that Mr Bennet recalls of a part of it:" in prompt
        assert harness.delivery.faults == []
        assert len(harness.delivery.shown) == 30
        player.refusal = None
        await play(harness, scene, 30, 33)
        assert "The last words that" not in last_prompt(harness, "Mr Bennet")
        assert all(one.text for one in await read_memories(harness, scene, "Mr Bennet"))


async def test_memories_outlive_a_restart(tmp_path: Path) -> None:
    async with open_harness(tmp_path, Player(), context=CONTEXT) as harness:
        scene = await harness.start()
        await play(harness, scene, 0, 40)
        before = await read_memories(harness, scene, "Mr Bennet")
    async with open_harness(tmp_path, Player(), context=CONTEXT) as harness:
        assert await read_memories(harness, scene, "Mr Bennet") == before
        assert before


async def test_a_branch_remembers_what_happened_before_it(tmp_path: Path) -> None:
    player = Player()
    async with open_harness(tmp_path, player, context=CONTEXT) as harness:
        scene = await harness.start()
        await play(harness, scene, 0, 60)
        story = await harness.theatre.queries.read_history(scene)
        root = story[len(story) // 2]
        branch = await harness.branching.branch(root.id, Place(1, 11), GM)
        copied = await read_memories(harness, branch, "Mr Bennet")
        assert copied
        copies = {turn.id for turn in await harness.store.turns(branch.id)}
        for memory in copied:
            assert {memory.first_id, memory.last_id, *memory.turn_ids} <= copies
        later = [turn for turn in story if turn.id > root.id]
        after = {mark for turn in later if turn.take for mark in MARK.findall(turn.take.raw)}
        await play(harness, branch, 200, 204)
        assert not marks(await read_memories(harness, branch, "Mr Bennet")) & after
        assert not set(MARK.findall(last_prompt(harness, "Mr Bennet"))) & (after - {"LINE-200"})


def memory(number: int, layer: MemoryLayer, text: str = "So.") -> MindMemory:
    return MindMemory(number, layer, number * 10, number * 10 + 9, text)


def test_a_group_never_spans_another_layer_or_an_unwritten_memory() -> None:
    turns, chapter, whole = MemoryLayer
    latest = [memory(number, turns) for number in range(1, 7)]
    assert choose_group(latest) == tuple(latest[:4])
    assert choose_group(latest[:5]) == ()
    gap = [memory(1, chapter), memory(2, turns), memory(3, turns), memory(4, chapter)]
    assert choose_group(gap) == tuple(gap[1:3])
    unwritten = [memory(1, turns), memory(2, turns, ""), *latest[2:5]]
    assert choose_group(unwritten) == ()
    story = [memory(1, whole), memory(2, chapter), memory(3, chapter), memory(4, chapter)]
    assert choose_group([*story, memory(5, turns)]) == tuple(story[:3])
    assert choose_group(story[:3]) == ()
    assert choose_group(story[1:]) == tuple(story[1:3])
    assert choose_group([]) == ()


def test_blocks_have_about_half_of_the_room_and_every_turn() -> None:
    sizes = [(number, 30) for number in range(1, 11)]
    assert split_into_blocks(sizes, 200) == [(1, 3), (4, 6), (7, 9), (10, 10)]
    assert split_into_blocks([(1, 500), (2, 10)], 200) == [(1, 1), (2, 2)]
    assert split_into_blocks([], 200) == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("He left.\n\nShe stayed.", "He left. She stayed."),
        ("<system_thinking>Plan.</system_thinking>He left.", "He left."),
        ("He left. She wanted to", "He left."),
        ("他走了。她留下了。但是", "他走了。她留下了。"),
        ("no end", "no end"),
        ("", ""),
    ],
)
def test_a_memory_has_whole_sentences_and_no_planning(answer: str, text: str) -> None:
    assert read_memory(answer) == text
