"""A mind reads the latest turns of a story, and its prompt begins with the same turn for long."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from bot.bench.long_scene import store_turns
from bot.her.beats import select_public
from tests.scenes.scene_harness import GM, STUDY, open_harness, reply

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from tests.scenes.scene_harness import TheatreHarness

BENNET = reply("Mr Bennet", says="It goes.")
CONTEXT = 2600


async def start_long(folder: Path, turns: int) -> Scene:
    """Store a scene with so many turns."""
    async with open_harness(folder, BENNET, context=CONTEXT) as harness:
        scene = await harness.start()
    store_turns(folder / "aside.db", scene.id, 10, STUDY, turns)
    return scene


async def ask(harness: TheatreHarness, scene: Scene, text: str = "Papa?") -> str:
    """Say a line to Mr Bennet and return his prompt."""
    await harness.say(scene, text, "Mr Bennet")
    await harness.wait_until_idle(scene)
    return last_prompt(harness)


def last_prompt(harness: TheatreHarness) -> str:
    """Return the prompt of the last reply. Memories may be written after it."""
    requests = (one for one in reversed(harness.engine.requests) if not one.background)
    return next(requests).prompt.text


def first_turn(prompt: str) -> int:
    """Return the number of the first turn in a prompt."""
    conversation = prompt[prompt.index("===Conversation Start===") :]
    found = re.search(r"The (\d+)\. matter", conversation)
    assert found
    return int(found[1])


async def test_prompts_begin_with_the_same_turn_also_after_a_restart(tmp_path: Path) -> None:
    scene = await start_long(tmp_path, 400)
    async with open_harness(tmp_path, BENNET, context=CONTEXT) as harness:
        first = first_turn(await ask(harness, scene))
        assert first > 300
        assert first_turn(await ask(harness, scene)) == first
    async with open_harness(tmp_path, BENNET, context=CONTEXT) as harness:
        harness.ids = count(2000)  # new messages
        assert first_turn(await ask(harness, scene)) == first


async def test_no_prompt_is_over_the_budget_however_long_the_scene_goes_on(tmp_path: Path) -> None:
    scene = await start_long(tmp_path, 60)
    async with open_harness(tmp_path, BENNET, context=CONTEXT) as harness:
        starts = set()
        for number in range(40):
            prompt = await ask(harness, scene, f"MARK-{number}. " + "And so on. " * 10)
            assert -(-len(prompt) // 4) <= CONTEXT - CONTEXT // 4
            assert f"MARK-{number}." in prompt
            assert "Play only Mr Bennet" in prompt
            starts.add(await harness.store.window_start(scene.id, "Mr Bennet"))
        assert 2 <= len(starts) <= 6


async def test_after_a_rewind_earlier_turns_come_back_into_the_prompt(tmp_path: Path) -> None:
    scene = await start_long(tmp_path, 400)
    async with open_harness(tmp_path, BENNET, context=CONTEXT) as harness:
        first = first_turn(await ask(harness, scene))
        story = await harness.theatre.queries.read_history(scene)
        back = next(turn for turn in story if turn.id == first - 4)
        await harness.undo.rewind(back.id, GM)
        prompt = await ask(harness, scene)
        assert first_turn(prompt) < first - 8
        assert f"The {first - 4}. matter" in prompt
        assert f"The {first}. matter" not in prompt
        assert back.take
        assert select_public(back.take.beats)


async def test_a_larger_context_brings_earlier_turns_back(tmp_path: Path) -> None:
    scene = await start_long(tmp_path, 400)
    async with open_harness(tmp_path, BENNET, context=CONTEXT) as harness:
        first = first_turn(await ask(harness, scene))
    async with open_harness(tmp_path, BENNET, context=4 * CONTEXT) as harness:
        harness.ids = count(2000)  # new messages
        assert first_turn(await ask(harness, scene)) < first - 20


async def test_a_new_take_of_an_earlier_reply_sees_the_turns_before_it(tmp_path: Path) -> None:
    scene = await start_long(tmp_path, 400)
    async with open_harness(tmp_path, BENNET, context=CONTEXT) as harness:
        first = first_turn(await ask(harness, scene))
        start = await harness.store.window_start(scene.id, "Mr Bennet")
        story = await harness.theatre.queries.read_history(scene)
        old = next(turn for turn in story if turn.speaker == "Mr Bennet" and turn.id > first - 100)
        await harness.takes.retake(old.id, GM)
        await harness.wait_until_idle(scene)
        prompt = last_prompt(harness)
        assert f"The {old.id - 1}. matter" in prompt
        assert f"The {old.id + 1}. matter" not in prompt
        assert await harness.store.window_start(scene.id, "Mr Bennet") == start


async def test_a_branch_keeps_the_beginning_of_the_prompts(tmp_path: Path) -> None:
    scene = await start_long(tmp_path, 400)
    async with open_harness(tmp_path, BENNET, context=CONTEXT) as harness:
        await ask(harness, scene)
        running = harness.theatre.find_running(scene.id)
        assert running
        await running.runner.wait_until_remembered()
        before = await ask(harness, scene)
        reply_turn = (await harness.theatre.queries.read_history(scene, 1))[0]
        place = scene.place.__class__(1, 11)
        branch = await harness.branching.branch(reply_turn.id, place, GM)
        after = await ask(harness, branch, "And now?")
        assert first_turn(after) == first_turn(before)
        assert after.startswith(before[:2000])
