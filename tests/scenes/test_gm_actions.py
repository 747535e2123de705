"""Game masters, parts, the stage, and muted people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import Refused, Remedy
from bot.scenes.scene import Mode
from bot.scenes.story_events import Speaker
from tests.scenes.gm_harness import open_gm_harness, words
from tests.scenes.scene_harness import ALICE, BOB, GM, reply

if TYPE_CHECKING:
    from pathlib import Path

BENNET = reply("Mr Bennet", says="You refuse him, then?")
MADAM = reply("Mrs Bennet", says="My nerves!")


async def test_a_scene_never_loses_its_last_game_master(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        with pytest.raises(Refused) as refusal:
            await gm.gm_actions.remove_gm(scene, GM, GM)
        assert refusal.value.remedy is Remedy.HAND_OVER
        scene = await gm.gm_actions.add_gm(scene, ALICE, GM)
        with pytest.raises(Refused):
            await gm.gm_actions.add_gm(scene, ALICE, GM)
        scene = await gm.gm_actions.remove_gm(scene, GM, GM)
        assert scene.gm_ids == (ALICE,)
        scene = await gm.gm_actions.hand_over(scene, BOB, ALICE)
        assert scene.gm_ids == (BOB,)
        with pytest.raises(Refused):
            await gm.gm_actions.hand_over(scene, BOB, BOB)


async def test_if_two_game_masters_leave_at_once_one_remains(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.gm_actions.add_gm(await gm.harness.start(), ALICE, GM)
        await gm.gm_actions.remove_gm(scene, GM, GM)
        with pytest.raises(Refused):
            await gm.gm_actions.remove_gm(scene, ALICE, ALICE)
        assert gm.harness.theatre.require_scene(10).gm_ids == (ALICE,)


async def test_a_moderator_takes_over_a_scene_without_game_masters(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        with pytest.raises(Refused, match="Only the game master"):
            await gm.gm_actions.add_gm(scene, BOB, BOB)
        assert (await gm.gm_actions.add_gm(scene, BOB, BOB, moderates=True)).gm_ids == (
            GM,
            BOB,
        )


async def test_a_part_is_handed_to_players_and_back_to_the_model(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.theatre.controls.join(await gm.harness.start(), ALICE, "Mr Bennet")
        scene = await gm.gm_actions.hand(scene, "papa", BOB, GM)
        assert scene.part("Mr Bennet").player_id == BOB
        assert scene.part_of(ALICE) is None
        scene = await gm.gm_actions.hand(scene, "Mrs Bennet", BOB, GM)
        assert scene.part("Mr Bennet").by_model
        scene = await gm.gm_actions.hand(scene, "Mrs Bennet", None, GM)
        assert scene.part("Mrs Bennet").by_model
        with pytest.raises(Refused):
            await gm.gm_actions.hand(scene, "Mrs Bennet", None, GM)


async def test_a_part_that_its_player_leaves_is_the_models_again_or_rests(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        harness = gm.harness
        scene = await harness.theatre.controls.join(await harness.start(), ALICE, "Mr Bennet")
        assert await harness.theatre.controls.leave(scene, ALICE) == "Mr Bennet"
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert len(harness.engine.requests) == 1
        scene = await harness.theatre.controls.join(scene, ALICE, "Mr Bennet")
        await harness.theatre.controls.leave(scene, ALICE, rest=True)
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert len(harness.engine.requests) == 1
        scene = await harness.theatre.controls.join(
            harness.theatre.require_scene(10), BOB, "Mr Bennet"
        )
        assert not scene.part("Mr Bennet").rests


async def test_the_gm_wakes_a_resting_character(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        harness = gm.harness
        scene = await gm.gm_actions.rest(await harness.start(), "Mr Bennet", GM, rests=True)
        with pytest.raises(Refused, match="already rests"):
            await gm.gm_actions.rest(scene, "Mr Bennet", GM, rests=True)
        with pytest.raises(Refused, match="Only the game master"):
            await gm.gm_actions.rest(scene, "Mr Bennet", ALICE, rests=False)
        scene = await gm.gm_actions.rest(scene, "Mr Bennet", GM, rests=False)
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert len(harness.delivery.shown) == 1


async def test_a_reply_that_a_resting_character_owed_never_comes(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, MADAM, BENNET) as gm:
        harness = gm.harness
        harness.engine.gate.clear()
        scene = await harness.start()
        await harness.say(scene, "Mama! Papa!", "Mrs Bennet", "Mr Bennet")
        await gm.gm_actions.rest(scene, "Mr Bennet", GM, rests=True)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in harness.delivery.shown] == ["Mrs Bennet"]


async def test_a_muted_player_is_not_heard_until_unmuted(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        harness = gm.harness
        scene = await harness.theatre.controls.join(await harness.start(), ALICE, "Mr Bennet")
        scene = await gm.gm_actions.mute(scene, ALICE, GM)
        assert scene.part("Mr Bennet").by_model
        await harness.say(scene, "Papa?", "Mrs Bennet")
        assert await harness.read_story(scene) == []
        for refused in (
            harness.theatre.controls.join(scene, ALICE, "Mr Bennet"),
            gm.story_events.whisper(scene, "Mr Bennet", "Psst", Speaker(ALICE, "Alice")),
            gm.story_events.roll(scene, "d6", Speaker(ALICE, "Alice"), secret=False),
            gm.story_events.cue(scene, "Mr Bennet", ALICE),
        ):
            with pytest.raises(Refused, match="muted you"):
                await refused
        with pytest.raises(Refused) as refusal:
            await gm.gm_actions.hand(scene, "Mr Bennet", ALICE, GM)
        assert refusal.value.remedy is Remedy.UNMUTE
        scene = await gm.gm_actions.unmute(scene, ALICE, GM)
        await harness.say(scene, "I am back.")
        assert await harness.read_story(scene) == [("Alice", "I am back.")]
        with pytest.raises(Refused):
            await gm.gm_actions.unmute(scene, ALICE, GM)


async def test_a_game_master_cannot_be_muted(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.gm_actions.add_gm(await gm.harness.start(), ALICE, GM)
        with pytest.raises(Refused) as refusal:
            await gm.gm_actions.mute(scene, ALICE, GM)
        assert refusal.value.remedy is Remedy.REMOVE_GM


async def test_players_move_their_own_character_and_the_gm_moves_all(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.theatre.controls.join(await gm.harness.start(), ALICE, "Elizabeth")
        assert await gm.gm_actions.leave_stage(scene, None, ALICE) == "Elizabeth Bennet"
        now = gm.harness.theatre.require_scene(10)
        with pytest.raises(Refused, match="already off stage"):
            await gm.gm_actions.leave_stage(now, None, ALICE)
        with pytest.raises(Refused, match="the player of Mr Bennet"):
            await gm.gm_actions.leave_stage(now, "Mr Bennet", ALICE)
        with pytest.raises(Refused, match="name a character"):
            await gm.gm_actions.leave_stage(now, None, GM)
        await gm.gm_actions.leave_stage(now, "Mr Bennet", GM)
        await gm.gm_actions.enter_stage(now, "Elizabeth", GM)


async def test_a_character_off_stage_never_hears_the_lines_it_missed(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, MADAM) as gm:
        harness = gm.harness
        scene = await harness.start()
        await harness.say(scene, "Before MARMALADE.")
        await gm.gm_actions.leave_stage(scene, "Mr Bennet", GM)
        await harness.say(scene, "Meanwhile PICKLES.", "Mr Bennet", "Mrs Bennet")
        await gm.story_events.narrate(scene, "The TREACLE spills.", GM)
        await harness.wait_until_idle(scene)
        assert {speaker for speaker, _ in harness.delivery.shown} == {"Environment", "Mrs Bennet"}
        await gm.gm_actions.enter_stage(scene, "Mr Bennet", GM)
        await harness.say(scene, "After HONEY.")
        bennet = await harness.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        madam = await harness.theatre.queries.read_prompt(scene, "Mrs Bennet", GM)
        for word in ("MARMALADE", "HONEY"):
            assert word in bennet
        for word in ("PICKLES", "TREACLE", "My nerves!"):
            assert word not in bennet
            assert word in madam
        assert "PICKLES" in "".join(map(words, await harness.theatre.queries.read_history(scene)))


async def test_a_character_that_left_does_not_hear_a_reply_that_was_owed(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, MADAM) as gm:
        harness = gm.harness
        scene = await harness.start()
        harness.engine.gate.clear()
        await harness.say(scene, "Mama?", "Mrs Bennet")
        await gm.gm_actions.leave_stage(scene, "Mr Bennet", GM)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert "My nerves!" not in await harness.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        assert "Mama?" in await harness.theatre.queries.read_prompt(scene, "Mr Bennet", GM)


async def test_a_player_off_stage_is_not_heard_and_gets_one_notice(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        harness = gm.harness
        scene = await harness.theatre.controls.join(await harness.start(), ALICE, "Elizabeth")
        await gm.gm_actions.leave_stage(scene, None, ALICE)
        await harness.say(scene, "Hello?")
        await harness.say(scene, "Hello??")
        assert await harness.read_story(scene) == []
        assert len(harness.delivery.notices) == 1
        await gm.gm_actions.enter_stage(scene, None, ALICE)
        await harness.say(scene, "Hello!")
        assert await harness.read_story(scene) == [("Elizabeth Bennet", "Hello!")]


async def test_only_the_gm_sets_the_mode_and_its_budget_within_bounds(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        scene = await gm.gm_actions.set_mode(scene, Mode.AUTO, 5, GM)
        assert (scene.mode, scene.budget) == (Mode.AUTO, 5)
        assert (await gm.gm_actions.set_mode(scene, Mode.AUTO, None, GM)).budget == 5
        for budget in (0, 21):
            with pytest.raises(Refused):
                await gm.gm_actions.set_mode(scene, Mode.AUTO, budget, GM)
        with pytest.raises(Refused, match="Only the game master"):
            await gm.gm_actions.set_mode(scene, Mode.ADDRESSED, None, ALICE)


async def test_cast_and_stage_survive_a_restart(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.gm_actions.set_mode(await gm.harness.start(), Mode.AUTO, 2, GM)
        scene = await gm.gm_actions.add_gm(scene, BOB, GM)
        scene = await gm.gm_actions.mute(scene, ALICE, GM)
        scene = await gm.gm_actions.rest(scene, "Mr Bennet", GM, rests=True)
        await gm.gm_actions.leave_stage(scene, "Mrs Bennet", GM)
        scene = gm.harness.theatre.require_scene(10)
    async with open_gm_harness(tmp_path, BENNET) as gm:
        assert gm.harness.theatre.require_scene(10) == scene
