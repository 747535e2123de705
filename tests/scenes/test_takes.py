"""The takes of a reply: choose, continue and edit them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.engine.protocol import Dialect
from bot.errors import EngineBusy, EngineDied, MissingPermission, Refused
from bot.her.beats import planning, select_public, thought
from bot.scenes import prompt_builder
from bot.scenes.turn import TurnState
from tests.engine.scripted_engine import Scripted
from tests.scenes.replied_scene import FIRST, MADAM, REFUSES, SECOND, TAKES, answered, said
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness

if TYPE_CHECKING:
    from pathlib import Path


async def test_the_chosen_take_is_remembered_and_shown(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, SECOND, MADAM) as harness:
        scene, turn = await answered(harness, takes=2)
        await harness.takes.step(turn.id, ALICE, -1)
        assert await said(harness, scene) == REFUSES
        assert harness.delivery.shown[-1] == ("Mr Bennet", REFUSES)
        await harness.say(scene, "Mama?", "Mrs Bennet")
        await harness.wait_until_idle(scene)
        prompt = harness.engine.requests[-1].prompt.text
        assert "You refuse him?" in prompt
        assert "You take him?" not in prompt


async def test_a_step_beyond_the_first_or_last_take_is_refused(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        scene, turn = await answered(harness, takes=2)
        with pytest.raises(Refused, match="no other take"):
            await harness.takes.step(turn.id, GM, 1)
        await harness.takes.step(turn.id, GM, -1)
        with pytest.raises(Refused, match="no other take"):
            await harness.takes.step(turn.id, GM, -1)
        assert await said(harness, scene) == REFUSES


async def test_the_chosen_take_remains_if_a_new_one_fails(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, SECOND, EngineBusy("Too many wait.")) as harness:
        scene, turn = await answered(harness, takes=2)
        await harness.takes.step(turn.id, ALICE, -1)
        await harness.takes.retake(turn.id, ALICE)
        await harness.wait_until_idle(scene)
        assert await said(harness, scene) == REFUSES


async def test_a_partly_shown_take_that_fails_gives_way_to_the_old_one(tmp_path: Path) -> None:
    dies = Scripted(FIRST + "<role_action>rises</role_action>", error=EngineDied("Gone."))
    async with open_harness(tmp_path, FIRST, dies) as harness:
        scene, turn = await answered(harness, takes=2)
        assert harness.delivery.withdrawn == [turn.id]
        assert await said(harness, scene) == REFUSES


async def test_a_take_that_discord_rejects_is_kept_beside_the_current_one(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        scene, turn = await answered(harness)
        harness.delivery.refusal = MissingPermission("Aside lacks Send Messages in #study.")
        await harness.takes.retake(turn.id, ALICE)
        await harness.wait_until_idle(scene)
        assert await said(harness, scene) == REFUSES
        harness.delivery.refusal = None
        await harness.takes.step(turn.id, ALICE, 1)
        assert await said(harness, scene) == TAKES


async def test_a_choice_that_discord_rejects_is_undone(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        scene, turn = await answered(harness, takes=2)
        harness.delivery.refusal = MissingPermission("Aside lacks Send Messages in #study.")
        with pytest.raises(MissingPermission):
            await harness.takes.step(turn.id, ALICE, -1)
        assert await said(harness, scene) == TAKES


async def test_posts_out_of_date_are_corrected_after_a_restart(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        _, turn = await answered(harness, takes=2)
        await harness.post(turn, 77)
        await harness.store.choose_take(turn.id, turn.takes[0])
    async with open_harness(tmp_path, FIRST) as harness:
        await harness.takes.align_all()
        assert harness.delivery.shown == [("Mr Bennet", REFUSES)]


async def test_who_may_choose_continue_and_edit_a_take(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        _, turn = await answered(harness, takes=2)
        assert turn.take
        for forbidden in (
            harness.takes.step(turn.id, BOB, -1),
            harness.takes.retake(turn.id, BOB, lengthen=True),
            harness.takes.read_text(turn.id, ALICE),
            harness.takes.rewrite(turn.id, turn.take.id, "Hm.", ALICE),
            harness.takes.require_turn(turn.id, BOB),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await forbidden
        assert await harness.takes.require_turn(turn.id, ALICE) == turn


async def test_a_take_is_not_changed_during_a_generation(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        scene, turn = await answered(harness)
        harness.engine.gate.clear()
        await harness.takes.retake(turn.id, ALICE)
        assert turn.take
        for refused in (
            harness.takes.step(turn.id, GM, -1),
            harness.takes.rewrite(turn.id, turn.take.id, "Hm.", GM),
        ):
            with pytest.raises(Refused, match="still replying"):
                await refused
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert await said(harness, scene) == TAKES


async def test_a_continued_reply_keeps_its_plan_and_thoughts(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, FIRST, " And why?<role_action>waits</role_action>"
    ) as harness:
        scene, turn = await answered(harness)
        await harness.takes.retake(turn.id, ALICE, lengthen=True)
        await harness.wait_until_idle(scene)
        assert await said(harness, scene) == "smiles You refuse him? And why? waits"
        first, second = harness.engine.requests
        assert second.prompt.text.startswith(first.prompt.text)
        opening = second.prompt.text.removeprefix(first.prompt.text)
        assert opening.endswith(
            "Mr Bennet: <role_thinking>Poor child.</role_thinking>"
            "<role_action>smiles</role_action>You refuse him?"
        )
        assert second.prompt.prefill == f"<system_thinking>{opening}"
        now = await harness.store.turn(turn.id)
        assert now
        assert now.take
        assert now.take.beats[:2] == (planning("Be dry."), thought("Poor child."))
        assert now.take.raw == f"{second.prompt.prefill} And why?<role_action>waits</role_action>"


async def test_a_continuation_streams_and_never_shows_less(tmp_path: Path) -> None:
    more = " And why?<role_thinking>SECRET</role_thinking><role_action>waits</role_action> Well?"
    async with open_harness(tmp_path, FIRST, Scripted(more, chunk=3)) as harness:
        scene, turn = await answered(harness)
        harness.delivery.progressed.clear()
        await harness.takes.retake(turn.id, ALICE, lengthen=True)
        await harness.wait_until_idle(scene)
        assert turn.take
        before = sum(len(beat.text) for beat in select_public(turn.take.beats))
        assert harness.delivery.progressed
        for beats in harness.delivery.progressed:
            assert sum(len(beat.text) for beat in beats) > before
            assert not any("SECRET" in beat.text for beat in beats)


async def test_a_reply_without_a_continuation_is_retried_and_then_remains(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, FIRST, "", "<role_thinking>Enough.</role_thinking>"
    ) as harness:
        scene, turn = await answered(harness)
        await harness.takes.retake(turn.id, ALICE, lengthen=True)
        await harness.wait_until_idle(scene)
        assert harness.engine.requests[1].seed != harness.engine.requests[2].seed
        assert await said(harness, scene) == REFUSES
        assert "added no words" in harness.delivery.notices[0].text


async def test_a_continuation_survives_a_restart(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        scene, turn = await answered(harness)
        harness.engine.gate.clear()
        await harness.takes.retake(turn.id, ALICE, lengthen=True)
    async with open_harness(tmp_path, " And why?") as harness:
        harness.theatre.play_owed()
        await harness.wait_until_idle(scene)
        assert await said(harness, scene) == "smiles You refuse him? And why?"


async def test_the_demo_model_continues_with_one_or_two_sentences() -> None:
    assert "system_thinking" not in prompt_builder.build_grammar(
        "Mr Bennet", Dialect.STAND_IN, more=True
    )
    assert "system_thinking" not in prompt_builder.build_grammar(
        "Mr Bennet", Dialect.HER, more=True
    )


async def test_a_failed_reply_has_no_takes_to_choose(tmp_path: Path) -> None:
    async with open_harness(tmp_path, EngineBusy("Too many wait."), FIRST) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        (failed,) = [
            turn for turn in await harness.store.turns(scene.id) if turn.state is TurnState.FAILED
        ]
        with pytest.raises(Refused, match="failed"):
            await harness.takes.retake(failed.id, ALICE)
        await harness.takes.retry(failed.id, ALICE)
        await harness.wait_until_idle(scene)
        assert await said(harness, scene) == REFUSES


async def test_a_retry_of_a_character_off_stage_is_refused(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        scene, turn = await answered(harness)
        await harness.theatre.change(
            scene, lambda now: replace(now, parts=tuple(replace(p, absent=True) for p in now.parts))
        )
        with pytest.raises(Refused, match="does not speak for Mr Bennet"):
            await harness.takes.retake(turn.id, ALICE)
        assert await said(harness, scene) == REFUSES
