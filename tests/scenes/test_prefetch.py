"""While nobody speaks, an engine that can use the time is told what the next prompts begin with."""

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
from tests.scenes.harness import ALICE, House, a_house, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from pathlib import Path

    from bot.engine.protocol import EngineInfo
    from bot.scenes.scene import Scene

BENNET = reply("Mr Bennet", plan="Tease her.", says="You refuse him, then?")
MADAM = reply("Mrs Bennet", says="My nerves!")


@dataclass
class Foresighted(ScriptedEngine):
    """Implements Anticipating."""

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


async def rested(house: House, scene: Scene) -> Foresighted:
    """The engine, once the scene's runner has nothing more to do."""
    running = house.theatre.running(scene.id)
    assert running
    await running.runner.wait_until_idle()
    return cast("Foresighted", house.engine)


async def test_after_a_reply_its_mind_is_brought_to_what_the_next_prompt_begins_with(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET, kind=Foresighted) as house:
        scene = await house.begin()
        await house.say(scene, "You sent for me, Papa?", "Mr Bennet")
        engine = await rested(house, scene)
        mind, beginning = engine.expected[-1]
        assert mind == engine.requests[0].mind
        assert "Poor child." in beginning
        assert "Tease her." not in beginning
        await house.say(scene, "I do.", "Mr Bennet")
        await rested(house, scene)
        asked = engine.requests[-1].prompt.text
        assert asked.startswith(beginning)
        assert asked.removeprefix(beginning).startswith("Alice: I do.")


async def test_others_that_have_spoken_are_prepared_too_and_know_no_more_than_their_own(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, MADAM, BENNET, kind=Foresighted) as house:
        scene = await house.begin()
        await house.say(scene, "Mama, Papa!", "Mrs Bennet", "Mr Bennet")
        engine = await rested(house, scene)
        (latest, _), (earlier, hers) = engine.expected[-2:]
        assert (latest, earlier) == (engine.requests[1].mind, engine.requests[0].mind)
        assert hers.endswith("You refuse him, then?")
        assert hers.count("Poor child.") == 1


@pytest.mark.parametrize("joins", [False, True])
async def test_when_a_scene_starts_the_likeliest_character_is_prepared(
    tmp_path: Path, *, joins: bool
) -> None:
    async with a_house(tmp_path, MADAM, kind=Foresighted) as house:
        scene = await house.begin()
        engine = await rested(house, scene)
        if joins:
            await house.theatre.controls.join(scene, ALICE, "Mr Bennet")
            await rested(house, scene)
        assert [mind for mind, _ in engine.expected] == [
            f"{scene.id}/{name}" for name in ("Mr Bennet", "Mrs Bennet")[: 1 + joins]
        ]
        beginning = engine.expected[-1][1]
        await house.say(scene, "Well?", "Mrs Bennet" if joins else "Mr Bennet")
        await rested(house, scene)
        assert len(beginning) > 500
        assert engine.requests[0].prompt.text.startswith(beginning)


async def test_that_no_mind_can_be_prepared_harms_nobody(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, kind=Foresighted) as house:
        engine = cast("Foresighted", house.engine)
        engine.fails = True
        scene = await house.begin()
        await rested(house, scene)
        engine.fails = False
        await house.say(scene, "Papa?", "Mr Bennet")
        await rested(house, scene)
        assert house.stage.shown == [("Mr Bennet", "smiles You refuse him, then?")]
        assert house.stage.faults == []


async def test_a_scene_that_rests_and_an_engine_that_has_no_use_for_it_are_left_alone(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, Scripted(BENNET, pause=0.01), kind=Foresighted) as house:
        scene = await house.begin()
        engine = await rested(house, scene)
        engine.expected.clear()
        await house.say(scene, "Papa?", "Mr Bennet")
        await until(lambda: bool(engine.requests))
        await house.theatre.controls.pause(scene, scene.gm_ids[0])
        await rested(house, scene)
        assert house.stage.shown
        assert engine.expected == []
    async with a_house(tmp_path, BENNET) as house:
        assert await rested(house, await house.begin(channel=11)) is house.engine


texts = st.lists(
    st.builds(Text, st.text("ab", max_size=4)) | st.builds(Control, st.sampled_from("<>")),
    max_size=5,
)


@given(texts, texts)
def test_what_two_prompts_begin_with_begins_both(
    one: list[Text | Control], other: list[Text | Control]
) -> None:
    shared = find_common_prefix(Prompt(tuple(one)), Prompt(tuple(other))).text
    assert Prompt(tuple(one)).text.startswith(shared)
    assert Prompt(tuple(other)).text.startswith(shared)
    assert (
        find_common_prefix(Prompt(tuple(one)), Prompt(tuple(one))).text == Prompt(tuple(one)).text
    )
