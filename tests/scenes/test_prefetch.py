"""While the scene is idle, the engine prefetches the beginnings of likely prompts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import EngineDied
from bot.her.prompt import Control, Prompt, Text
from bot.scenes.prefetch import find_common_prefix
from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.scenes.scene_harness import ALICE, TheatreHarness, open_harness, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from pathlib import Path

    from bot.engine.protocol import EngineInfo
    from bot.scenes.scene import Scene

BENNET = reply("Mr Bennet", plan="Tease her.", says="You refuse him, then?")
MADAM = reply("Mrs Bennet", says="My nerves!")


@dataclass
class Foresighted(ScriptedEngine):
    """Implements PrefetchingEngine."""

    expected: list[tuple[str, str]] = field(default_factory=list)
    fails: bool = False

    @property
    def info(self) -> EngineInfo:
        return replace(super().info, minds=2)

    def prefetch(self, mind: str, prompt: Prompt) -> None:
        self.expected.append((mind, prompt.text))

    async def count(self, prompt: Prompt) -> int:
        if self.fails:
            raise EngineDied("The model is gone.")
        return await super().count(prompt)


async def rested(harness: TheatreHarness, scene: Scene) -> Foresighted:
    """Return the engine after the scene's runner is idle."""
    running = harness.theatre.find_running(scene.id)
    assert running
    await running.runner.wait_until_idle()
    return cast("Foresighted", harness.engine)


async def test_after_a_reply_the_prefix_of_the_next_prompt_is_prefetched(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET, kind=Foresighted) as harness:
        scene = await harness.start()
        await harness.say(scene, "You sent for me, Papa?", "Mr Bennet")
        engine = await rested(harness, scene)
        mind, beginning = engine.expected[-1]
        assert mind == engine.requests[0].mind
        assert "Poor child." in beginning
        assert "Tease her." not in beginning
        await harness.say(scene, "I do.", "Mr Bennet")
        await rested(harness, scene)
        asked = engine.requests[-1].prompt.text
        assert asked.startswith(beginning)
        assert asked.removeprefix(beginning).startswith("Alice: I do.")


async def test_other_speakers_are_prefetched_with_their_own_minds(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, MADAM, BENNET, kind=Foresighted) as harness:
        scene = await harness.start()
        await harness.say(scene, "Mama, Papa!", "Mrs Bennet", "Mr Bennet")
        engine = await rested(harness, scene)
        (latest, _), (earlier, hers) = engine.expected[-2:]
        assert (latest, earlier) == (engine.requests[1].mind, engine.requests[0].mind)
        assert hers.endswith("You refuse him, then?")
        assert hers.count("Poor child.") == 1


@pytest.mark.parametrize("joins", [False, True])
async def test_at_the_start_of_a_scene_the_likeliest_character_is_prefetched(
    tmp_path: Path, *, joins: bool
) -> None:
    async with open_harness(tmp_path, MADAM, kind=Foresighted) as harness:
        scene = await harness.start()
        engine = await rested(harness, scene)
        if joins:
            await harness.theatre.controls.join(scene, ALICE, "Mr Bennet")
            await rested(harness, scene)
        assert [mind for mind, _ in engine.expected] == [
            f"{scene.id}/{name}" for name in ("Mr Bennet", "Mrs Bennet")[: 1 + joins]
        ]
        beginning = engine.expected[-1][1]
        await harness.say(scene, "Well?", "Mrs Bennet" if joins else "Mr Bennet")
        await rested(harness, scene)
        assert len(beginning) > 500
        assert engine.requests[0].prompt.text.startswith(beginning)


async def test_a_failed_prefetch_does_no_harm(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET, kind=Foresighted) as harness:
        engine = cast("Foresighted", harness.engine)
        engine.fails = True
        scene = await harness.start()
        await rested(harness, scene)
        engine.fails = False
        await harness.say(scene, "Papa?", "Mr Bennet")
        await rested(harness, scene)
        assert harness.delivery.shown == [("Mr Bennet", "smiles You refuse him, then?")]
        assert harness.delivery.faults == []


async def test_a_paused_scene_and_a_plain_engine_get_no_prefetch(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, Scripted(BENNET, pause=0.01), kind=Foresighted) as harness:
        scene = await harness.start()
        engine = await rested(harness, scene)
        engine.expected.clear()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await until(lambda: bool(engine.requests))
        await harness.theatre.controls.pause(scene, scene.gm_ids[0])
        await rested(harness, scene)
        assert harness.delivery.shown
        assert engine.expected == []
    async with open_harness(tmp_path, BENNET) as harness:
        assert await rested(harness, await harness.start(channel=11)) is harness.engine


texts = st.lists(
    st.builds(Text, st.text("ab", max_size=4)) | st.builds(Control, st.sampled_from("<>")),
    max_size=5,
)


@given(texts, texts)
def test_the_common_prefix_begins_both_prompts(
    one: list[Text | Control], other: list[Text | Control]
) -> None:
    shared = find_common_prefix(Prompt(tuple(one)), Prompt(tuple(other))).text
    assert Prompt(tuple(one)).text.startswith(shared)
    assert Prompt(tuple(other)).text.startswith(shared)
    assert (
        find_common_prefix(Prompt(tuple(one)), Prompt(tuple(one))).text == Prompt(tuple(one)).text
    )
