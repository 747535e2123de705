"""What enters a story otherwise than by a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import (
    EmptyReply,
    EngineBusy,
    MissingPermission,
    NameNotFound,
    Refused,
    UserInputError,
)
from bot.scenes import mind
from bot.scenes.story_events import Speaker
from bot.scenes.turn import TurnKind, TurnState
from tests.scenes.gm_harness import a_directed_house, words
from tests.scenes.harness import ALICE, BOB, GM, reply

if TYPE_CHECKING:
    from pathlib import Path

BENNET = reply("Mr Bennet", says="You refuse him, then?")
ALICE_HERSELF = Speaker(ALICE, "Alice")


async def test_a_narration_of_the_gms_is_shown_and_every_mind_has_it(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        await directed.telling.narrate(scene, "The candles go out.", GM)
        assert directed.house.stage.shown == [("Environment", "The candles go out.")]
        await directed.house.say(scene, "Papa?", "Mr Bennet")
        await directed.house.quiet(scene)
        assert "Environment: The candles go out." in directed.prompts("Mr Bennet")[0]


async def test_a_narration_of_the_models_comes_in_its_time_without_a_characters_doings(
    tmp_path: Path,
) -> None:
    told = "Rain drums on the glass. Mr Bennet smiles. “Well!” Lizzy says. A log falls in the grate. More. And more."
    async with a_directed_house(tmp_path, told) as directed:
        scene = await directed.house.begin()
        await directed.telling.narrate(scene, None, GM)
        await directed.house.quiet(scene)
        assert directed.house.stage.shown == [
            ("Environment", "Rain drums on the glass. A log falls in the grate. More.")
        ]
        (asked,) = directed.house.engine.requests
        assert "He will not lose Lizzy." not in asked.prompt.text
        assert "<system_thinking>" not in asked.prompt.text


async def test_a_model_that_tells_only_of_the_characters_is_asked_again_and_then_given_up(
    tmp_path: Path,
) -> None:
    async with a_directed_house(tmp_path, "Mr Bennet weeps.") as directed:
        scene = await directed.house.begin()
        await directed.telling.narrate(scene, None, GM)
        await directed.house.quiet(scene)
        assert directed.house.stage.shown == []
        assert len({request.seed for request in directed.house.engine.requests}) == 3
        assert "write the narration yourself" in directed.house.stage.faults[0]


async def test_what_the_model_plans_is_never_narrated(tmp_path: Path) -> None:
    planned = "<system_thinking>SECRET plan.</system_thinking>Snow falls."
    async with a_directed_house(tmp_path, planned) as directed:
        scene = await directed.house.begin()
        await directed.telling.narrate(scene, None, GM)
        await directed.house.quiet(scene)
        assert directed.house.stage.shown == [("Environment", "Snow falls.")]


async def test_words_lent_to_a_character_are_its_own_and_whom_they_address_answers(
    tmp_path: Path,
) -> None:
    async with a_directed_house(tmp_path, BENNET, reply("Mrs Bennet", says="No!")) as directed:
        scene = await directed.house.begin()
        await directed.telling.say(scene, "mrs bennet", "*faints* My salts, @Papa!", GM)
        await directed.house.quiet(scene)
        assert [speaker for speaker, _ in directed.house.stage.shown] == ["Mrs Bennet", "Mr Bennet"]
        assert (
            "Mrs Bennet: <role_action>faints</role_action>My salts, @Papa!"
            in directed.prompts("Mr Bennet")[0]
        )
        await directed.house.say(scene, "Mama?", "Mrs Bennet")
        await directed.house.quiet(scene)
        own = directed.prompts("Mrs Bennet")[0].partition("assistant\n")[2]
        assert own.startswith("Mrs Bennet: <role_action>faints</role_action>")


async def test_a_players_character_is_spoken_for_by_the_player_alone(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.theatre.controls.join(
            await directed.house.begin(), BOB, "Mrs Bennet"
        )
        with pytest.raises(Refused, match="Only that player"):
            await directed.telling.say(scene, "Mrs Bennet", "No!", GM)
        with pytest.raises(Refused, match="Only that player"):
            await directed.telling.cue(scene, "Mrs Bennet", GM)
        with pytest.raises(Refused, match="played by a player"):
            await directed.telling.whisper(scene, "Mrs Bennet", "No!", ALICE_HERSELF)


async def test_what_the_channel_cannot_be_shown_is_no_part_of_the_story(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        directed.house.stage.refusal = MissingPermission("Aside lacks Send Messages in #study.")
        with pytest.raises(MissingPermission):
            await directed.telling.say(scene, "Mrs Bennet", "My salts, @Papa!", GM)
        directed.house.stage.refusal = None
        await directed.house.quiet(scene)
        assert await directed.turns(scene) == []
        assert directed.house.engine.requests == []


async def test_a_setting_is_the_current_scenario_of_all_minds_from_then_on(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        await directed.telling.change_setting(
            scene, [(mind.PLACE, "Netherfield"), (mind.SCENE, "A ball.")], GM
        )
        await directed.telling.change_setting(scene, [(mind.PLACE, "The terrace")], GM)
        prompt = await directed.house.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        assert "===Current Scenario===\nA ball.\nPlace: The terrace\n" in prompt
        assert "A library at Longbourn" not in prompt
        assert "Environment: Netherfield" in prompt
        await directed.house.theatre.controls.clear(scene, GM)
        assert "A library at Longbourn" in await directed.house.theatre.queries.read_prompt(
            scene, "Mr Bennet", GM
        )


async def test_rolls_are_remembered_and_secret_ones_are_in_no_mind(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.theatre.controls.join(
            await directed.house.begin(), ALICE, "Elizabeth"
        )
        open_ = await directed.telling.roll(scene, "2d6+3", ALICE_HERSELF, secret=False)
        hidden = await directed.telling.roll(scene, "1d20", ALICE_HERSELF, secret=True)
        assert (open_.speaker, open_.roll.total, hidden.roll.total) == ("Elizabeth Bennet", 15, 20)
        for character in ("Mr Bennet", "Elizabeth Bennet"):
            prompt = await directed.house.theatre.queries.read_prompt(scene, character, GM)
            assert "Environment: Elizabeth Bennet rolls 2d6+3 and gets 15." in prompt
            assert "1d20" not in prompt
        assert [
            words(turn) for turn in await directed.house.theatre.queries.read_history(scene)
        ] == ["Elizabeth Bennet rolls 2d6+3 and gets 15."]
        with pytest.raises(UserInputError):
            await directed.telling.roll(scene, "1000000000d6", ALICE_HERSELF, secret=False)
        assert (await directed.telling.roll(None, "d6", ALICE_HERSELF, secret=False)).turn is None


async def test_a_cue_makes_a_character_speak_and_only_the_cast_and_the_gm_give_one(
    tmp_path: Path,
) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        with pytest.raises(Refused):
            await directed.telling.cue(scene, "Mr Bennet", ALICE)
        scene = await directed.house.theatre.controls.join(scene, ALICE, "Elizabeth")
        assert await directed.telling.cue(scene, "papa", ALICE) == "Mr Bennet"
        await directed.house.quiet(scene)
        await directed.telling.cue(scene, "Mr Bennet", GM)
        await directed.house.quiet(scene)
        assert [speaker for speaker, _ in directed.house.stage.shown] == ["Mr Bennet"] * 2


async def test_who_is_about_to_speak_or_cannot_needs_no_cue(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        directed.house.engine.gate.clear()
        await directed.telling.cue(scene, "Mr Bennet", GM)
        with pytest.raises(Refused, match="about to speak"):
            await directed.telling.cue(scene, "Mr Bennet", GM)
        scene = await directed.direction.rest(scene, "Mrs Bennet", GM, rests=True)
        with pytest.raises(Refused, match="rests"):
            await directed.telling.cue(scene, "Mrs Bennet", GM)
        await directed.direction.leave_stage(scene, "Elizabeth", GM)
        with pytest.raises(Refused, match="off stage"):
            await directed.telling.cue(directed.house.theatre.require_scene(10), "Elizabeth", GM)
        directed.house.engine.gate.set()
        await directed.house.quiet(scene)


async def test_only_the_gm_does_what_the_gm_does(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        for forbidden in (
            directed.telling.narrate(scene, "Fire!", ALICE),
            directed.telling.narrate(scene, None, ALICE),
            directed.telling.say(scene, "Mr Bennet", "Fire!", ALICE),
            directed.telling.whisper_to(scene, "Mr Bennet", "Fire!", ALICE),
            directed.telling.change_setting(scene, [(mind.PLACE, "Hell")], ALICE),
            directed.prompter.note(scene, None, "Fire!", ALICE),
            directed.prompter.notes(scene, ALICE),
            directed.prompter.remove(scene, 1, ALICE),
            directed.prompter.think(scene, "Mr Bennet", ALICE),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await forbidden
        assert await directed.turns(scene) == []


async def test_while_a_scene_is_paused_nothing_is_told(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.theatre.controls.pause(await directed.house.begin(), GM)
        for paused in (
            directed.telling.narrate(scene, "Fire!", GM),
            directed.telling.whisper(scene, "Mr Bennet", "Fire!", ALICE_HERSELF),
            directed.telling.cue(scene, "Mr Bennet", GM),
        ):
            with pytest.raises(Refused, match="paused"):
                await paused


@pytest.mark.parametrize("text", ["", "  \n", "\u200b", "\x00\u3164", "x" * 2001])
async def test_nothing_and_too_much_are_refused(tmp_path: Path, text: str) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        for refused in (
            directed.telling.narrate(scene, text, GM),
            directed.telling.say(scene, "Mr Bennet", text, GM),
            directed.telling.change_setting(scene, [("Place", text)], GM),
            directed.telling.whisper(scene, "Mr Bennet", text, ALICE_HERSELF),
            directed.prompter.note(scene, None, text, GM),
        ):
            with pytest.raises(Refused):
                await refused
        with pytest.raises(NameNotFound):
            await directed.telling.say(scene, "Lady Catherine", "Well!", GM)


async def test_a_thought_is_looked_up_without_a_turn_and_goes_no_further_than_the_thought(
    tmp_path: Path,
) -> None:
    async with a_directed_house(
        tmp_path, "PLAN</system_thinking>Mr Bennet: <role_thinking>SECRET joy"
    ) as directed:
        scene = await directed.house.begin()
        behind = await directed.prompter.think(scene, "papa", GM)
        assert [freed.beat.text for freed in behind.released] == ["SECRET joy"]
        (asked,) = directed.house.engine.requests
        assert "</role_thinking>" in asked.stop
        assert await directed.turns(scene) == []
        assert directed.house.stage.shown == []
        assert directed.house.stage.notices == []


async def test_a_mind_without_a_thought_is_said_to_have_none(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, "PLAN</system_thinking>Mr Bennet: Well.") as directed:
        scene = await directed.house.begin()
        with pytest.raises(EmptyReply, match="Mr Bennet"):
            await directed.prompter.think(scene, "Mr Bennet", GM)


async def test_notes_stand_near_the_end_of_the_prompts_they_are_for(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.house.begin()
        await directed.prompter.note(scene, "Mr Bennet", "He has a cold.", GM)
        await directed.prompter.note(scene, None, "It is Sunday.", GM)
        for text in ("Good morning.", "How are you?"):
            await directed.house.say(scene, text)
        bennet = await directed.house.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        madam = await directed.house.theatre.queries.read_prompt(scene, "Mrs Bennet", GM)
        assert (
            bennet.index("Good morning.")
            < bennet.index("He has a cold.")
            < bennet.index("It is Sunday.")
        )
        assert bennet.index("It is Sunday.") < bennet.index("How are you?")
        assert "It is Sunday." in madam
        assert "He has a cold." not in madam
        assert (await directed.prompter.remove(scene, 1, GM)).text == "He has a cold."
        assert [note.text for note in await directed.prompter.notes(scene, GM)] == ["It is Sunday."]
        with pytest.raises(Refused):
            await directed.prompter.remove(scene, 2, GM)
        await directed.house.say(scene, "Papa?", "Mr Bennet")
        await directed.house.quiet(scene)
        assert "It is Sunday." in directed.prompts("Mr Bennet")[0]
        assert "He has a cold." not in directed.prompts("Mr Bennet")[0]


async def test_a_whisper_is_answered_in_a_whisper_and_nothing_of_it_is_in_the_channel(
    tmp_path: Path,
) -> None:
    async with a_directed_house(tmp_path, reply("Mr Bennet", says="I know."), BENNET) as directed:
        scene = await directed.house.begin()
        assert await directed.telling.whisper(scene, "Mr Bennet", "PICKLES", ALICE_HERSELF)
        await directed.house.quiet(scene)
        said, answer = await directed.turns(scene)
        assert (said.kind, answer.kind, answer.listener_id) == (
            TurnKind.WHISPER,
            TurnKind.WHISPER,
            ALICE,
        )
        assert await directed.house.theatre.queries.read_history(scene) == []
        assert directed.house.stage.progressed == []
        assert "Alice: <role_action>whispers to Mr Bennet" in directed.prompts("Mr Bennet")[0]
        await directed.house.say(scene, "Well?", "Mr Bennet", "Mrs Bennet")
        await directed.house.quiet(scene)
        assert "I know." in directed.prompts("Mr Bennet")[1]
        assert not any(
            "PICKLES" in prompt or "I know." in prompt for prompt in directed.prompts("Mrs Bennet")
        )


async def test_who_rests_hears_a_whisper_and_does_not_answer(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, BENNET) as directed:
        scene = await directed.direction.rest(
            await directed.house.begin(), "Mr Bennet", GM, rests=True
        )
        assert not await directed.telling.whisper(scene, "Mr Bennet", "PICKLES", ALICE_HERSELF)
        await directed.house.quiet(scene)
        assert "PICKLES" in await directed.house.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        await directed.direction.leave_stage(scene, "Mr Bennet", GM)
        with pytest.raises(Refused, match="off stage"):
            await directed.telling.whisper(
                directed.house.theatre.require_scene(10), "Mr Bennet", "Hm?", ALICE_HERSELF
            )


async def test_a_whisper_that_finds_no_words_fails_and_can_be_tried_again(tmp_path: Path) -> None:
    async with a_directed_house(tmp_path, EngineBusy("Too many wait."), BENNET) as directed:
        scene = await directed.house.begin()
        await directed.telling.whisper(scene, "Mr Bennet", "PICKLES", ALICE_HERSELF)
        await directed.house.quiet(scene)
        (failed,) = [turn for turn in await directed.turns(scene) if turn.state is TurnState.FAILED]
        assert directed.house.stage.faults == ["Too many wait."]
        assert failed.kind is TurnKind.WHISPER
