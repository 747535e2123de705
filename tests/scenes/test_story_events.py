"""Narrations, lent words, whispers, settings, rolls and cues."""

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
from tests.scenes.gm_harness import open_gm_harness, words
from tests.scenes.scene_harness import ALICE, BOB, GM, reply

if TYPE_CHECKING:
    from pathlib import Path

BENNET = reply("Mr Bennet", says="You refuse him, then?")
ALICE_HERSELF = Speaker(ALICE, "Alice")


async def test_a_narration_is_shown_and_heard_by_every_mind(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        await gm.story_events.narrate(scene, "The candles go out.", GM)
        assert gm.harness.delivery.shown == [("Environment", "The candles go out.")]
        await gm.harness.say(scene, "Papa?", "Mr Bennet")
        await gm.harness.wait_until_idle(scene)
        assert "Environment: The candles go out." in gm.prompts("Mr Bennet")[0]


async def test_a_generated_narration_leaves_the_characters_out(
    tmp_path: Path,
) -> None:
    raw = (
        "Rain drums on the glass. Mr Bennet smiles. “Well!” Lizzy says. A log falls in the grate. "
        "More. And more."
    )
    async with open_gm_harness(tmp_path, raw) as gm:
        scene = await gm.harness.start()
        await gm.story_events.narrate(scene, None, GM)
        await gm.harness.wait_until_idle(scene)
        assert gm.harness.delivery.shown == [
            ("Environment", "Rain drums on the glass. A log falls in the grate. More.")
        ]
        (asked,) = gm.harness.engine.requests
        assert "He will not lose Lizzy." not in asked.prompt.text
        assert "<system_thinking>" not in asked.prompt.text


async def test_a_narration_about_characters_is_retried_and_then_fails(
    tmp_path: Path,
) -> None:
    async with open_gm_harness(tmp_path, "Mr Bennet weeps.") as gm:
        scene = await gm.harness.start()
        await gm.story_events.narrate(scene, None, GM)
        await gm.harness.wait_until_idle(scene)
        assert gm.harness.delivery.shown == []
        assert len({request.seed for request in gm.harness.engine.requests}) == 3
        assert "Write the narration yourself" in gm.harness.delivery.faults[0]


async def test_planning_is_never_narrated(tmp_path: Path) -> None:
    planned = "<system_thinking>SECRET plan.</system_thinking>Snow falls."
    async with open_gm_harness(tmp_path, planned) as gm:
        scene = await gm.harness.start()
        await gm.story_events.narrate(scene, None, GM)
        await gm.harness.wait_until_idle(scene)
        assert gm.harness.delivery.shown == [("Environment", "Snow falls.")]


async def test_lent_words_are_the_characters_own_and_are_answered(
    tmp_path: Path,
) -> None:
    async with open_gm_harness(tmp_path, BENNET, reply("Mrs Bennet", says="No!")) as gm:
        scene = await gm.harness.start()
        await gm.story_events.say(scene, "mrs bennet", "*faints* My salts, @Papa!", GM)
        await gm.harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in gm.harness.delivery.shown] == ["Mrs Bennet", "Mr Bennet"]
        assert (
            "Mrs Bennet: <role_action>faints</role_action>My salts, @Papa!"
            in gm.prompts("Mr Bennet")[0]
        )
        await gm.harness.say(scene, "Mama?", "Mrs Bennet")
        await gm.harness.wait_until_idle(scene)
        own = gm.prompts("Mrs Bennet")[0].partition("assistant\n")[2]
        assert own.startswith("Mrs Bennet: <role_action>faints</role_action>")


async def test_only_the_player_speaks_for_their_character(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.theatre.controls.join(await gm.harness.start(), BOB, "Mrs Bennet")
        with pytest.raises(Refused, match="Only that player"):
            await gm.story_events.say(scene, "Mrs Bennet", "No!", GM)
        with pytest.raises(Refused, match="Only that player"):
            await gm.story_events.cue(scene, "Mrs Bennet", GM)
        with pytest.raises(Refused, match="Send that player a direct message"):
            await gm.story_events.whisper(scene, "Mrs Bennet", "No!", ALICE_HERSELF)


async def test_an_event_that_discord_rejects_leaves_the_story(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        gm.harness.delivery.refusal = MissingPermission("Aside lacks Send Messages in #study.")
        with pytest.raises(MissingPermission):
            await gm.story_events.say(scene, "Mrs Bennet", "My salts, @Papa!", GM)
        gm.harness.delivery.refusal = None
        await gm.harness.wait_until_idle(scene)
        assert await gm.turns(scene) == []
        assert gm.harness.engine.requests == []


async def test_a_new_setting_is_in_every_mind(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        await gm.story_events.change_setting(
            scene, [(mind.PLACE, "Netherfield"), (mind.SCENE, "A ball.")], GM
        )
        await gm.story_events.change_setting(scene, [(mind.PLACE, "The terrace")], GM)
        prompt = await gm.harness.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        assert "===Current Scenario===\nA ball.\nPlace: The terrace\n" in prompt
        assert "A library at Longbourn" not in prompt
        assert "Environment: Netherfield" in prompt
        await gm.harness.theatre.controls.clear(scene, GM)
        assert "A library at Longbourn" in await gm.harness.theatre.queries.read_prompt(
            scene, "Mr Bennet", GM
        )


async def test_rolls_are_heard_but_secret_rolls_are_not(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.theatre.controls.join(await gm.harness.start(), ALICE, "Elizabeth")
        open_ = await gm.story_events.roll(scene, "2d6+3", ALICE_HERSELF, secret=False)
        hidden = await gm.story_events.roll(scene, "1d20", ALICE_HERSELF, secret=True)
        assert (open_.speaker, open_.roll.total, hidden.roll.total) == ("Elizabeth Bennet", 15, 20)
        for character in ("Mr Bennet", "Elizabeth Bennet"):
            prompt = await gm.harness.theatre.queries.read_prompt(scene, character, GM)
            assert "Environment: Elizabeth Bennet rolls 2d6+3 and gets 15." in prompt
            assert "1d20" not in prompt
        assert [words(turn) for turn in await gm.harness.theatre.queries.read_history(scene)] == [
            "Elizabeth Bennet rolls 2d6+3 and gets 15."
        ]
        with pytest.raises(UserInputError):
            await gm.story_events.roll(scene, "1000000000d6", ALICE_HERSELF, secret=False)
        assert (await gm.story_events.roll(None, "d6", ALICE_HERSELF, secret=False)).turn is None


async def test_only_the_cast_and_the_gm_cue_a_character(
    tmp_path: Path,
) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        with pytest.raises(Refused):
            await gm.story_events.cue(scene, "Mr Bennet", ALICE)
        scene = await gm.harness.theatre.controls.join(scene, ALICE, "Elizabeth")
        assert await gm.story_events.cue(scene, "papa", ALICE) == "Mr Bennet"
        await gm.harness.wait_until_idle(scene)
        await gm.story_events.cue(scene, "Mr Bennet", GM)
        await gm.harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in gm.harness.delivery.shown] == ["Mr Bennet"] * 2


async def test_a_character_that_cannot_speak_or_already_will_gets_no_cue(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        gm.harness.engine.gate.clear()
        await gm.story_events.cue(scene, "Mr Bennet", GM)
        with pytest.raises(Refused, match="about to speak"):
            await gm.story_events.cue(scene, "Mr Bennet", GM)
        scene = await gm.gm_actions.rest(scene, "Mrs Bennet", GM, rests=True)
        with pytest.raises(Refused, match="rests"):
            await gm.story_events.cue(scene, "Mrs Bennet", GM)
        await gm.gm_actions.leave_stage(scene, "Elizabeth", GM)
        with pytest.raises(Refused, match="off stage"):
            await gm.story_events.cue(gm.harness.theatre.require_scene(10), "Elizabeth", GM)
        gm.harness.engine.gate.set()
        await gm.harness.wait_until_idle(scene)


async def test_only_the_gm_adds_events_of_the_gm(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        for forbidden in (
            gm.story_events.narrate(scene, "Fire!", ALICE),
            gm.story_events.narrate(scene, None, ALICE),
            gm.story_events.say(scene, "Mr Bennet", "Fire!", ALICE),
            gm.story_events.whisper_to(scene, "Mr Bennet", "Fire!", ALICE),
            gm.story_events.change_setting(scene, [(mind.PLACE, "Hell")], ALICE),
            gm.gm_notes.note(scene, None, "Fire!", ALICE),
            gm.gm_notes.notes(scene, ALICE),
            gm.gm_notes.remove(scene, 1, ALICE),
            gm.gm_notes.think(scene, "Mr Bennet", ALICE),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await forbidden
        assert await gm.turns(scene) == []


async def test_a_paused_scene_refuses_events(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.theatre.controls.pause(await gm.harness.start(), GM)
        for paused in (
            gm.story_events.narrate(scene, "Fire!", GM),
            gm.story_events.whisper(scene, "Mr Bennet", "Fire!", ALICE_HERSELF),
            gm.story_events.cue(scene, "Mr Bennet", GM),
        ):
            with pytest.raises(Refused, match="paused"):
                await paused


@pytest.mark.parametrize("text", ["", "  \n", "\u200b", "\x00\u3164", "x" * 2001])
async def test_empty_and_too_long_texts_are_refused(tmp_path: Path, text: str) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        for refused in (
            gm.story_events.narrate(scene, text, GM),
            gm.story_events.say(scene, "Mr Bennet", text, GM),
            gm.story_events.change_setting(scene, [("Place", text)], GM),
            gm.story_events.whisper(scene, "Mr Bennet", text, ALICE_HERSELF),
            gm.gm_notes.note(scene, None, text, GM),
        ):
            with pytest.raises(Refused):
                await refused
        with pytest.raises(NameNotFound):
            await gm.story_events.say(scene, "Lady Catherine", "Well!", GM)


async def test_the_gm_reads_a_thought_and_the_character_takes_no_turn(
    tmp_path: Path,
) -> None:
    async with open_gm_harness(
        tmp_path, "PLAN</system_thinking>Mr Bennet: <role_thinking>SECRET joy"
    ) as gm:
        scene = await gm.harness.start()
        behind = await gm.gm_notes.think(scene, "papa", GM)
        assert [freed.beat.text for freed in behind.released] == ["SECRET joy"]
        (asked,) = gm.harness.engine.requests
        assert "</role_thinking>" in asked.stop
        assert await gm.turns(scene) == []
        assert gm.harness.delivery.shown == []
        assert gm.harness.delivery.notices == []


async def test_a_mind_without_a_thought_is_reported(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, "PLAN</system_thinking>Mr Bennet: Well.") as gm:
        scene = await gm.harness.start()
        with pytest.raises(EmptyReply, match="Mr Bennet"):
            await gm.gm_notes.think(scene, "Mr Bennet", GM)


async def test_notes_are_near_the_end_of_the_right_prompts(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.harness.start()
        await gm.gm_notes.note(scene, "Mr Bennet", "He has a cold.", GM)
        await gm.gm_notes.note(scene, None, "It is Sunday.", GM)
        for text in ("Good morning.", "How are you?"):
            await gm.harness.say(scene, text)
        bennet = await gm.harness.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        madam = await gm.harness.theatre.queries.read_prompt(scene, "Mrs Bennet", GM)
        assert (
            bennet.index("Good morning.")
            < bennet.index("He has a cold.")
            < bennet.index("It is Sunday.")
        )
        assert bennet.index("It is Sunday.") < bennet.index("How are you?")
        assert "It is Sunday." in madam
        assert "He has a cold." not in madam
        assert (await gm.gm_notes.remove(scene, 1, GM)).text == "He has a cold."
        assert [note.text for note in await gm.gm_notes.notes(scene, GM)] == ["It is Sunday."]
        with pytest.raises(Refused):
            await gm.gm_notes.remove(scene, 2, GM)
        await gm.harness.say(scene, "Papa?", "Mr Bennet")
        await gm.harness.wait_until_idle(scene)
        assert "It is Sunday." in gm.prompts("Mr Bennet")[0]
        assert "He has a cold." not in gm.prompts("Mr Bennet")[0]


async def test_a_whisper_is_answered_in_a_whisper_and_stays_private(
    tmp_path: Path,
) -> None:
    async with open_gm_harness(tmp_path, reply("Mr Bennet", says="I know."), BENNET) as gm:
        scene = await gm.harness.start()
        assert await gm.story_events.whisper(scene, "Mr Bennet", "PICKLES", ALICE_HERSELF)
        await gm.harness.wait_until_idle(scene)
        said, answer = await gm.turns(scene)
        assert (said.kind, answer.kind, answer.listener_id) == (
            TurnKind.WHISPER,
            TurnKind.WHISPER,
            ALICE,
        )
        assert await gm.harness.theatre.queries.read_history(scene) == []
        assert gm.harness.delivery.progressed == []
        assert "Alice: <role_action>whispers to Mr Bennet" in gm.prompts("Mr Bennet")[0]
        await gm.harness.say(scene, "Well?", "Mr Bennet", "Mrs Bennet")
        await gm.harness.wait_until_idle(scene)
        assert "I know." in gm.prompts("Mr Bennet")[1]
        assert not any(
            "PICKLES" in prompt or "I know." in prompt for prompt in gm.prompts("Mrs Bennet")
        )


async def test_a_resting_character_hears_a_whisper_and_does_not_answer(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, BENNET) as gm:
        scene = await gm.gm_actions.rest(await gm.harness.start(), "Mr Bennet", GM, rests=True)
        assert not await gm.story_events.whisper(scene, "Mr Bennet", "PICKLES", ALICE_HERSELF)
        await gm.harness.wait_until_idle(scene)
        assert "PICKLES" in await gm.harness.theatre.queries.read_prompt(scene, "Mr Bennet", GM)
        await gm.gm_actions.leave_stage(scene, "Mr Bennet", GM)
        with pytest.raises(Refused, match="off stage"):
            await gm.story_events.whisper(
                gm.harness.theatre.require_scene(10), "Mr Bennet", "Hm?", ALICE_HERSELF
            )


async def test_a_failed_whisper_can_be_tried_again(tmp_path: Path) -> None:
    async with open_gm_harness(tmp_path, EngineBusy("Too many wait."), BENNET) as gm:
        scene = await gm.harness.start()
        await gm.story_events.whisper(scene, "Mr Bennet", "PICKLES", ALICE_HERSELF)
        await gm.harness.wait_until_idle(scene)
        (failed,) = [turn for turn in await gm.turns(scene) if turn.state is TurnState.FAILED]
        assert gm.harness.delivery.faults == [
            "The model has too many replies to write. Try again later."
        ]
        assert failed.kind is TurnKind.WHISPER
