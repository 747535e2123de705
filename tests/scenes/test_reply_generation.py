"""The generation of one reply: attempts, limits and the end of a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.engine.protocol import FinishReason
from bot.errors import EngineDied
from bot.her.beats import planning, thought
from bot.scenes.reply_generation import ReplyLimits
from tests.engine.scripted_engine import Scripted
from tests.scenes.scene_harness import GM, open_harness, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from pathlib import Path


BENNET = reply("Mr Bennet", says="You refuse him, then?")


async def test_a_reply_without_words_is_retried_once_and_then_reported(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, "I plan and plan") as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        first, second = harness.engine.requests
        assert first.seed != second.seed
        assert (second.planning_tokens or 0) < (first.planning_tokens or 0)
        assert harness.delivery.shown == []
        assert harness.delivery.faults == [
            "Mr Bennet was lost in thought and did not speak. Try again, or rephrase the line."
        ]


async def test_the_thoughts_of_a_reply_without_words_are_shown_after_the_failure(
    tmp_path: Path,
) -> None:
    silent = "Be dry.</system_thinking>Mr Bennet: <role_thinking>Poor child. I say: go."
    async with open_harness(tmp_path, silent, "") as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await until(lambda: bool(harness.delivery.thoughts))
        assert len(harness.delivery.faults) == 1
        assert harness.delivery.thoughts == [
            (planning("Be dry."), thought("Poor child. I say: go."))
        ]


async def test_the_thoughts_of_a_retry_without_words_are_shown_and_the_earlier_take_stays(
    tmp_path: Path,
) -> None:
    silent = "Sulk.</system_thinking>Mr Bennet: <role_thinking>No.</role_thinking>"
    async with open_harness(tmp_path, BENNET, silent, silent) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        (_, answer) = await harness.store.turns(scene.id)
        await harness.takes.retake(answer.id, GM)
        await until(lambda: bool(harness.delivery.thoughts))
        assert harness.delivery.thoughts == [(planning("Sulk."), thought("No."))]
        (_, answer) = await harness.store.turns(scene.id)
        assert answer.take is not None
        assert len(answer.takes) == 1


async def test_one_death_of_the_engine_goes_unnoticed(tmp_path: Path) -> None:
    died = Scripted(
        "A plan</system_thinking>Mr Bennet: Half a", error=EngineDied("The worker is gone.")
    )
    async with open_harness(tmp_path, died, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert harness.delivery.shown == [("Mr Bennet", "smiles You refuse him, then?")]


async def test_a_description_too_long_for_the_context_is_reported_and_not_cut(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, BENNET, limits=ReplyLimits(max_tokens=256), context=300
    ) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert "no room for a reply" in harness.delivery.faults[0]
        assert harness.engine.requests == []


async def test_a_reply_stops_before_the_model_speaks_for_another_character(tmp_path: Path) -> None:
    rambling = Scripted(
        BENNET + "\n\nElizabeth Bennet: I do, Papa." + " And so on." * 500,
        reason=FinishReason.LENGTH,
    )
    async with open_harness(tmp_path, rambling) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert harness.delivery.shown == [("Mr Bennet", "smiles You refuse him, then?")]
        assert len(harness.engine.cancelled) == 1
