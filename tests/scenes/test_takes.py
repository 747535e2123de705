"""Going through the takes of a reply, lengthening it, rewriting it."""

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
from tests.scenes.harness import ALICE, BOB, GM, a_house
from tests.scenes.replied_scene import FIRST, MADAM, REFUSES, SECOND, TAKES, answered, said

if TYPE_CHECKING:
    from pathlib import Path


async def test_the_chosen_take_is_what_everyone_remembers_and_what_shows(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST, SECOND, MADAM) as house:
        scene, turn = await answered(house, takes=2)
        await house.takes.step(turn.id, ALICE, -1)
        assert await said(house, scene) == REFUSES
        assert house.stage.shown[-1] == ("Mr Bennet", REFUSES)
        await house.say(scene, "Mama?", "Mrs Bennet")
        await house.quiet(scene)
        prompt = house.engine.requests[-1].prompt.text
        assert "You refuse him?" in prompt
        assert "You take him?" not in prompt


async def test_there_is_no_way_beyond_the_first_and_the_last(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST, SECOND) as house:
        scene, turn = await answered(house, takes=2)
        with pytest.raises(Refused, match="no other take"):
            await house.takes.step(turn.id, GM, 1)
        await house.takes.step(turn.id, GM, -1)
        with pytest.raises(Refused, match="no other take"):
            await house.takes.step(turn.id, GM, -1)
        assert await said(house, scene) == REFUSES


async def test_the_take_that_was_chosen_stands_where_no_new_one_comes(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST, SECOND, EngineBusy("Too many wait.")) as house:
        scene, turn = await answered(house, takes=2)
        await house.takes.step(turn.id, ALICE, -1)
        await house.takes.retake(turn.id, ALICE)
        await house.quiet(scene)
        assert await said(house, scene) == REFUSES


async def test_half_of_a_new_take_that_fails_makes_way_for_the_old_one(tmp_path: Path) -> None:
    dies = Scripted(FIRST + "<role_action>rises</role_action>", error=EngineDied("Gone."))
    async with a_house(tmp_path, FIRST, dies) as house:
        scene, turn = await answered(house, takes=2)
        assert house.stage.withdrawn == [turn.id]
        assert await said(house, scene) == REFUSES


async def test_a_take_that_could_not_be_posted_is_kept_beside_the_one_that_stands(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, FIRST, SECOND) as house:
        scene, turn = await answered(house)
        house.stage.refusal = MissingPermission("Aside lacks Send Messages in #study.")
        await house.takes.retake(turn.id, ALICE)
        await house.quiet(scene)
        assert await said(house, scene) == REFUSES
        house.stage.refusal = None
        await house.takes.step(turn.id, ALICE, 1)
        assert await said(house, scene) == TAKES


async def test_a_choice_that_cannot_be_shown_is_no_choice(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST, SECOND) as house:
        scene, turn = await answered(house, takes=2)
        house.stage.refusal = MissingPermission("Aside lacks Send Messages in #study.")
        with pytest.raises(MissingPermission):
            await house.takes.step(turn.id, ALICE, -1)
        assert await said(house, scene) == TAKES


async def test_stopped_between_a_choice_and_its_posts_they_are_put_right_afterwards(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, FIRST, SECOND) as house:
        _, turn = await answered(house, takes=2)
        await house.post(turn, 77)
        await house.store.choose_take(turn.id, turn.takes[0])
    async with a_house(tmp_path, FIRST) as house:
        await house.takes.align_all()
        assert house.stage.shown == [("Mr Bennet", REFUSES)]


async def test_only_who_asked_and_the_gm_choose_and_lengthen_and_only_the_gm_rewrites(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, FIRST, SECOND) as house:
        _, turn = await answered(house, takes=2)
        assert turn.take
        for forbidden in (
            house.takes.step(turn.id, BOB, -1),
            house.takes.retake(turn.id, BOB, lengthen=True),
            house.takes.read_text(turn.id, ALICE),
            house.takes.rewrite(turn.id, turn.take.id, "Hm.", ALICE),
            house.takes.require_turn(turn.id, BOB),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await forbidden
        assert await house.takes.require_turn(turn.id, ALICE) == turn


async def test_nothing_is_chosen_or_rewritten_while_a_take_is_made(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST, SECOND) as house:
        scene, turn = await answered(house)
        house.engine.gate.clear()
        await house.takes.retake(turn.id, ALICE)
        assert turn.take
        for refused in (
            house.takes.step(turn.id, GM, -1),
            house.takes.rewrite(turn.id, turn.take.id, "Hm.", GM),
        ):
            with pytest.raises(Refused, match="still replying"):
                await refused
        house.engine.gate.set()
        await house.quiet(scene)
        assert await said(house, scene) == TAKES


async def test_a_lengthened_reply_goes_on_where_it_was_with_plan_and_thoughts(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, FIRST, " And why?<role_action>waits</role_action>") as house:
        scene, turn = await answered(house)
        await house.takes.retake(turn.id, ALICE, lengthen=True)
        await house.quiet(scene)
        assert await said(house, scene) == "smiles You refuse him? And why? waits"
        first, second = house.engine.requests
        assert second.prompt.text.startswith(first.prompt.text)
        opening = second.prompt.text.removeprefix(first.prompt.text)
        assert opening.endswith(
            "Mr Bennet: <role_thinking>Poor child.</role_thinking><role_action>smiles</role_action>You refuse him?"
        )
        assert second.prompt.prefill == f"<system_thinking>{opening}"
        now = await house.store.turn(turn.id)
        assert now
        assert now.take
        assert now.take.beats[:2] == (planning("Be dry."), thought("Poor child."))
        assert now.take.raw == f"{second.prompt.prefill} And why?<role_action>waits</role_action>"


async def test_what_is_added_streams_and_never_less_than_there_was(tmp_path: Path) -> None:
    more = " And why?<role_thinking>SECRET</role_thinking><role_action>waits</role_action> Well?"
    async with a_house(tmp_path, FIRST, Scripted(more, chunk=3)) as house:
        scene, turn = await answered(house)
        house.stage.progressed.clear()
        await house.takes.retake(turn.id, ALICE, lengthen=True)
        await house.quiet(scene)
        assert turn.take
        before = sum(len(beat.text) for beat in select_public(turn.take.beats))
        assert house.stage.progressed
        for beats in house.stage.progressed:
            assert sum(len(beat.text) for beat in beats) > before
            assert not any("SECRET" in beat.text for beat in beats)


async def test_a_reply_with_nothing_to_add_is_asked_once_more_and_then_stands(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, FIRST, "", "<role_thinking>Enough.</role_thinking>") as house:
        scene, turn = await answered(house)
        await house.takes.retake(turn.id, ALICE, lengthen=True)
        await house.quiet(scene)
        assert house.engine.requests[1].seed != house.engine.requests[2].seed
        assert await said(house, scene) == REFUSES
        assert "added no words" in house.stage.notices[0].text


async def test_a_restart_in_the_middle_of_lengthening_goes_on_with_it(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST) as house:
        scene, turn = await answered(house)
        house.engine.gate.clear()
        await house.takes.retake(turn.id, ALICE, lengthen=True)
    async with a_house(tmp_path, " And why?") as house:
        house.theatre.play_owed()
        await house.quiet(scene)
        assert await said(house, scene) == "smiles You refuse him? And why?"


async def test_a_stand_in_is_held_to_a_sentence_or_two_more() -> None:
    assert "system_thinking" not in prompt_builder.build_grammar(
        "Mr Bennet", Dialect.STAND_IN, more=True
    )
    assert "system_thinking" not in prompt_builder.build_grammar(
        "Mr Bennet", Dialect.HER, more=True
    )


async def test_a_failed_reply_is_tried_again_and_not_gone_through(tmp_path: Path) -> None:
    async with a_house(tmp_path, EngineBusy("Too many wait."), FIRST) as house:
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        (failed,) = [
            turn for turn in await house.store.turns(scene.id) if turn.state is TurnState.FAILED
        ]
        with pytest.raises(Refused, match="failed"):
            await house.takes.retake(failed.id, ALICE)
        await house.takes.retry(failed.id, ALICE)
        await house.quiet(scene)
        assert await said(house, scene) == REFUSES


async def test_no_other_take_is_asked_of_a_character_that_is_off_stage(tmp_path: Path) -> None:
    async with a_house(tmp_path, FIRST, SECOND) as house:
        scene, turn = await answered(house)
        await house.theatre.change(
            scene, lambda now: replace(now, parts=tuple(replace(p, absent=True) for p in now.parts))
        )
        with pytest.raises(Refused, match="does not speak for Mr Bennet"):
            await house.takes.retake(turn.id, ALICE)
        assert await said(house, scene) == REFUSES
