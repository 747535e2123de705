"""Who directs, who plays whom, who is on stage, who is heard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import Refused, Remedy
from bot.scenes.scene import Mode
from bot.scenes.story_events import Speaker
from tests.scenes.gm_harness import a_directed_house, words
from tests.scenes.harness import ALICE, BOB, GM, reply

if TYPE_CHECKING:
    from pathlib import Path

BENNET = reply("Mr Bennet", says="You refuse him, then?")
MADAM = reply("Mrs Bennet", says="My nerves!")


async def test_a_scene_never_loses_its_last_game_master(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        with pytest.raises(Refused) as refusal:
            await directed.direction.remove_gm(scene, GM, GM)
        assert refusal.value.remedy is Remedy.HAND_OVER
        scene = await directed.direction.add_gm(scene, ALICE, GM)
        with pytest.raises(Refused):
            await directed.direction.add_gm(scene, ALICE, GM)
        scene = await directed.direction.remove_gm(scene, GM, GM)
        assert scene.gm_ids == (ALICE,)
        scene = await directed.direction.hand_over(scene, BOB, ALICE)
        assert scene.gm_ids == (BOB,)
        with pytest.raises(Refused):
            await directed.direction.hand_over(scene, BOB, BOB)


async def test_two_game_masters_who_leave_at_once_leave_one(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.direction.add_gm(await directed.house.begin(), ALICE, GM)
        await directed.direction.remove_gm(scene, GM, GM)
        with pytest.raises(Refused):
            await directed.direction.remove_gm(scene, ALICE, ALICE)
        assert directed.house.theatre.require_scene(10).gm_ids == (ALICE,)


async def test_a_moderator_takes_over_a_scene_whose_game_masters_are_gone(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        with pytest.raises(Refused, match="Only the game master"):
            await directed.direction.add_gm(scene, BOB, BOB)
        assert (await directed.direction.add_gm(scene, BOB, BOB, moderates=True)).gm_ids == (
            GM,
            BOB,
        )


async def test_a_part_is_handed_from_hand_to_hand_and_back_to_the_model(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.theatre.controls.join(
            await directed.house.begin(), ALICE, "Mr Bennet"
        )
        scene = await directed.direction.hand(scene, "papa", BOB, GM)
        assert scene.part("Mr Bennet").player_id == BOB
        assert scene.part_of(ALICE) is None
        scene = await directed.direction.hand(scene, "Mrs Bennet", BOB, GM)
        assert scene.part("Mr Bennet").by_model
        scene = await directed.direction.hand(scene, "Mrs Bennet", None, GM)
        assert scene.part("Mrs Bennet").by_model
        with pytest.raises(Refused):
            await directed.direction.hand(scene, "Mrs Bennet", None, GM)


async def test_a_character_given_up_is_the_models_again_or_rests(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        house = directed.house
        scene = await house.theatre.controls.join(await house.begin(), ALICE, "Mr Bennet")
        assert await house.theatre.controls.leave(scene, ALICE) == "Mr Bennet"
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert len(house.engine.requests) == 1
        scene = await house.theatre.controls.join(scene, ALICE, "Mr Bennet")
        await house.theatre.controls.leave(scene, ALICE, rest=True)
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert len(house.engine.requests) == 1
        scene = await house.theatre.controls.join(house.theatre.require_scene(10), BOB, "Mr Bennet")
        assert not scene.part("Mr Bennet").rests


async def test_who_rests_is_woken_by_the_gm(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        house = directed.house
        scene = await directed.direction.rest(await house.begin(), "Mr Bennet", GM, rests=True)
        with pytest.raises(Refused, match="already rests"):
            await directed.direction.rest(scene, "Mr Bennet", GM, rests=True)
        with pytest.raises(Refused, match="Only the game master"):
            await directed.direction.rest(scene, "Mr Bennet", ALICE, rests=False)
        scene = await directed.direction.rest(scene, "Mr Bennet", GM, rests=False)
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert len(house.stage.shown) == 1


async def test_what_a_resting_character_owed_is_never_said(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, MADAM, BENNET) as directed:
        house = directed.house
        house.engine.gate.clear()
        scene = await house.begin()
        await house.say(scene, "Mama! Papa!", "Mrs Bennet", "Mr Bennet")
        await directed.direction.rest(scene, "Mr Bennet", GM, rests=True)
        house.engine.gate.set()
        await house.quiet(scene)
        assert [speaker for speaker, _ in house.stage.shown] == ["Mrs Bennet"]


async def test_who_was_sent_out_is_not_heard_until_let_in_again(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        house = directed.house
        scene = await house.theatre.controls.join(await house.begin(), ALICE, "Mr Bennet")
        scene = await directed.direction.mute(scene, ALICE, GM)
        assert scene.part("Mr Bennet").by_model
        await house.say(scene, "Papa?", "Mrs Bennet")
        assert await house.story(scene) == []
        for refused in (
            house.theatre.controls.join(scene, ALICE, "Mr Bennet"),
            directed.telling.whisper(scene, "Mr Bennet", "Psst", Speaker(ALICE, "Alice")),
            directed.telling.roll(scene, "d6", Speaker(ALICE, "Alice"), secret=False),
            directed.telling.cue(scene, "Mr Bennet", ALICE),
        ):
            with pytest.raises(Refused, match="muted you"):
                await refused
        with pytest.raises(Refused) as refusal:
            await directed.direction.hand(scene, "Mr Bennet", ALICE, GM)
        assert refusal.value.remedy is Remedy.UNMUTE
        scene = await directed.direction.unmute(scene, ALICE, GM)
        await house.say(scene, "I am back.")
        assert await house.story(scene) == [("Alice", "I am back.")]
        with pytest.raises(Refused):
            await directed.direction.unmute(scene, ALICE, GM)


async def test_a_game_master_is_not_sent_out(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.direction.add_gm(await directed.house.begin(), ALICE, GM)
        with pytest.raises(Refused) as refusal:
            await directed.direction.mute(scene, ALICE, GM)
        assert refusal.value.remedy is Remedy.REMOVE_GM


async def test_players_move_their_own_character_and_the_gm_moves_all(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.theatre.controls.join(
            await directed.house.begin(), ALICE, "Elizabeth"
        )
        assert await directed.direction.leave_stage(scene, None, ALICE) == "Elizabeth Bennet"
        now = directed.house.theatre.require_scene(10)
        with pytest.raises(Refused, match="already off stage"):
            await directed.direction.leave_stage(now, None, ALICE)
        with pytest.raises(Refused, match="the player of Mr Bennet"):
            await directed.direction.leave_stage(now, "Mr Bennet", ALICE)
        with pytest.raises(Refused, match="name a character"):
            await directed.direction.leave_stage(now, None, GM)
        await directed.direction.leave_stage(now, "Mr Bennet", GM)
        await directed.direction.enter_stage(now, "Elizabeth", GM)


async def test_who_is_off_stage_hears_nothing_meanwhile_and_everything_else(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, MADAM) as directed:
        house = directed.house
        scene = await house.begin()
        await house.say(scene, "Before MARMALADE.")
        await directed.direction.leave_stage(scene, "Mr Bennet", GM)
        await house.say(scene, "Meanwhile PICKLES.", "Mr Bennet", "Mrs Bennet")
        await directed.telling.narrate(scene, "The TREACLE spills.", GM)
        await house.quiet(scene)
        assert {speaker for speaker, _ in house.stage.shown} == {"Environment", "Mrs Bennet"}
        await directed.direction.enter_stage(scene, "Mr Bennet", GM)
        await house.say(scene, "After HONEY.")
        bennet = await house.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        madam = await house.theatre.queries.read_prompt(scene, "Mrs Bennet", GM)
        for word in ("MARMALADE", "HONEY"):
            assert word in bennet
        for word in ("PICKLES", "TREACLE", "My nerves!"):
            assert word not in bennet
            assert word in madam
        assert "PICKLES" in "".join(map(words, await house.theatre.queries.read_history(scene)))


async def test_a_reply_owed_when_a_character_leaves_is_not_heard_by_it(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, MADAM) as directed:
        house = directed.house
        scene = await house.begin()
        house.engine.gate.clear()
        await house.say(scene, "Mama?", "Mrs Bennet")
        await directed.direction.leave_stage(scene, "Mr Bennet", GM)
        house.engine.gate.set()
        await house.quiet(scene)
        assert "My nerves!" not in await house.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        assert "Mama?" in await house.theatre.queries.read_prompt(scene, "Mr Bennet", GM)


async def test_a_player_off_stage_is_not_heard_and_told_so_once(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        house = directed.house
        scene = await house.theatre.controls.join(await house.begin(), ALICE, "Elizabeth")
        await directed.direction.leave_stage(scene, None, ALICE)
        await house.say(scene, "Hello?")
        await house.say(scene, "Hello??")
        assert await house.story(scene) == []
        assert len(house.stage.notices) == 1
        await directed.direction.enter_stage(scene, None, ALICE)
        await house.say(scene, "Hello!")
        assert await house.story(scene) == [("Elizabeth Bennet", "Hello!")]


async def test_the_mode_and_its_budget_are_the_gms_and_bounded(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        scene = await directed.direction.set_mode(scene, Mode.AUTO, 5, GM)
        assert (scene.mode, scene.budget) == (Mode.AUTO, 5)
        assert (await directed.direction.set_mode(scene, Mode.AUTO, None, GM)).budget == 5
        for budget in (0, 21):
            with pytest.raises(Refused):
                await directed.direction.set_mode(scene, Mode.AUTO, budget, GM)
        with pytest.raises(Refused, match="Only the game master"):
            await directed.direction.set_mode(scene, Mode.ADDRESSED, None, ALICE)


async def test_after_a_restart_everyone_is_where_they_were(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.direction.set_mode(await directed.house.begin(), Mode.AUTO, 2, GM)
        scene = await directed.direction.add_gm(scene, BOB, GM)
        scene = await directed.direction.mute(scene, ALICE, GM)
        scene = await directed.direction.rest(scene, "Mr Bennet", GM, rests=True)
        await directed.direction.leave_stage(scene, "Mrs Bennet", GM)
        scene = directed.house.theatre.require_scene(10)
    async with a_directed_house(tmp_path, BENNET) as directed:
        assert directed.house.theatre.require_scene(10) == scene
