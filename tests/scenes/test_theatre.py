"""What people can do to a scene, and what comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.engine.protocol import FinishReason
from bot.errors import EngineBusy, EngineDied, MissingPermission, NameNotFound, Refused
from bot.her.beats import BeatKind, PrivateBeat
from bot.scenes.reply_generation import ReplyLimits
from bot.scenes.reveal import Destination
from bot.scenes.turn import TurnState
from tests.engine.scripted_engine import Scripted
from tests.scenes.harness import ALICE, BOB, GM, a_house, reply

if TYPE_CHECKING:
    from pathlib import Path

BENNET = reply("Mr Bennet", says="You refuse him, then?")
MADAM = reply("Mrs Bennet", says="My nerves!")


async def test_an_addressed_character_answers_and_the_story_has_both_lines(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        await house.say(scene, "You sent for me, Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert await house.story(scene) == [
            ("Alice", "You sent for me, Papa?"),
            ("Mr Bennet", "smiles You refuse him, then?"),
        ]
        assert house.stage.shown == [("Mr Bennet", "smiles You refuse him, then?")]


async def test_a_line_to_nobody_is_heard_and_not_answered(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        await house.say(scene, "What weather.")
        await house.quiet(scene)
        assert await house.story(scene) == [("Alice", "What weather.")]
        assert house.engine.requests == []


async def test_two_addressed_characters_answer_in_the_order_of_mention(tmp_path: Path) -> None:
    async with a_house(tmp_path, MADAM, BENNET) as house:
        scene = await house.begin()
        await house.say(scene, "Mama, Papa!", "Mrs Bennet", "Mr Bennet")
        await house.quiet(scene)
        assert [speaker for speaker, _ in house.stage.shown] == ["Mrs Bennet", "Mr Bennet"]
        assert "My nerves!" in house.engine.requests[1].prompt.text


async def test_a_player_speaks_as_the_character_they_joined_as(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.theatre.controls.join(await house.begin(), ALICE, "elizabeth")
        await house.say(scene, "*curtsies* Papa.", "Mr Bennet")
        await house.quiet(scene)
        assert (await house.story(scene))[0] == ("Elizabeth Bennet", "curtsies Papa.")
        assert (
            "Elizabeth Bennet: <role_action>curtsies</role_action>"
            in house.engine.requests[0].prompt.text
        )


async def test_a_character_played_by_a_player_is_not_answered_for(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.theatre.controls.join(await house.begin(), BOB, "Mr Bennet")
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert house.engine.requests == []


async def test_nobody_can_borrow_a_characters_name_by_calling_themselves_so(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        await house.say(scene, "I have changed my mind.", name="MR. BENNET")
        assert (await house.story(scene))[0][0] == "MR. BENNET (player)"


async def test_the_bot_mentioned_alone_means_who_spoke_last(tmp_path: Path) -> None:
    async with a_house(tmp_path, MADAM) as house:
        scene = await house.begin()
        await house.say(scene, "Mama?", "Mrs Bennet")
        await house.quiet(scene)
        await house.say(scene, "And then?", bot=True)
        await house.quiet(scene)
        assert [speaker for speaker, _ in house.stage.shown] == ["Mrs Bennet", "Mrs Bennet"]


async def test_lines_out_of_character_are_left_alone(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        await house.say(scene, "((brb, tea))", "Mr Bennet")
        await house.say(scene, "// so good", "Mr Bennet")
        await house.say(scene, "   ", "Mr Bennet")
        assert await house.story(scene) == []


async def test_a_message_delivered_twice_is_heard_once(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        for _ in range(2):
            house.ids = iter([5])  # type: ignore[assignment]
            await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert len(house.engine.requests) == 1


async def test_no_mind_reads_anothers_thoughts_or_anybodys_planning(tmp_path: Path) -> None:
    secretive = reply("Mr Bennet", plan="PLAN-1", thinks="SECRET-1", says="Well.")
    async with a_house(tmp_path, secretive, MADAM, BENNET) as house:
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        await house.say(scene, "Mama?", "Mrs Bennet", "Mr Bennet")
        await house.quiet(scene)
        madam, bennet = (request.prompt.text for request in house.engine.requests[1:])
        assert "SECRET-1" not in madam
        assert "He will not lose Lizzy." not in madam
        assert "SECRET-1" in bennet
        assert "PLAN-1" not in madam + bennet


async def test_a_reply_without_words_is_asked_for_once_more_and_then_owned_up_to(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, "I plan and plan") as house:
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        first, second = house.engine.requests
        assert first.seed != second.seed
        assert (second.planning_tokens or 0) < (first.planning_tokens or 0)
        assert house.stage.shown == []
        assert house.stage.faults == [
            "Mr Bennet was lost in thought and said nothing. Try again, or say it another way."
        ]


async def test_an_engine_that_dies_once_is_not_noticed(tmp_path: Path) -> None:
    died = Scripted(
        "A plan</system_thinking>Mr Bennet: Half a", error=EngineDied("The worker is gone.")
    )
    async with a_house(tmp_path, died, BENNET) as house:
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert house.stage.shown == [("Mr Bennet", "smiles You refuse him, then?")]


async def test_a_failed_reply_can_be_tried_again_by_who_asked_for_it_and_by_the_gm_only(
    tmp_path: Path,
) -> None:
    async with a_house(
        tmp_path, EngineBusy("Too many wait."), EngineBusy("Too many wait."), BENNET
    ) as house:
        scene = await house.begin()
        for person in (ALICE, GM):
            await house.quiet(scene)
            if person == ALICE:
                await house.say(scene, "Papa?", "Mr Bennet")
                await house.quiet(scene)
            (turn,) = [
                turn for turn in await house.store.turns(scene.id) if turn.state is TurnState.FAILED
            ]
            with pytest.raises(Refused):
                await house.takes.retry(turn.id, BOB)
            await house.takes.retry(turn.id, person)
        await house.quiet(scene)
        assert house.stage.faults == ["Too many wait."] * 2
        assert len(house.stage.shown) == 1
        with pytest.raises(Refused):
            await house.takes.retry(turn.id, GM)


async def test_a_reply_that_could_not_be_posted_is_kept_and_posted_when_tried_again(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        house.stage.refusal = MissingPermission("Aside lacks Send Messages in #study.")
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert house.stage.faults == ["Aside lacks Send Messages in #study."]
        house.stage.refusal = None
        (turn,) = [
            turn for turn in await house.store.turns(scene.id) if turn.state is TurnState.FAILED
        ]
        await house.takes.retry(turn.id, ALICE)
        await house.quiet(scene)
        assert len(house.stage.shown) == 1
        assert len(house.engine.requests) == 1


async def test_after_a_restart_owed_replies_are_taken_up_again(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        house.engine.gate.clear()
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
    async with a_house(tmp_path, BENNET) as house:
        assert house.theatre.require_scene(10).id == scene.id
        house.theatre.play_owed()
        await house.quiet(scene)
        assert len(house.stage.shown) == 1


async def test_after_a_restart_the_scene_is_as_it_was(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.theatre.controls.join(await house.begin(), ALICE, "Elizabeth")
        scene = await house.theatre.controls.reveal(
            scene, BeatKind.THOUGHT, Destination.SPOILER, GM
        )
        scene = await house.theatre.controls.pause(scene, GM)
    async with a_house(tmp_path, BENNET) as house:
        assert house.theatre.require_scene(10) == scene


async def test_two_scenes_never_hear_each_other(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        one, two = await house.begin(10), await house.begin(11)
        await house.say(one, "The word is MARMALADE.", "Mr Bennet")
        await house.say(two, "Papa?", "Mr Bennet")
        await house.quiet(one)
        await house.quiet(two)
        by_mind = {request.mind: request.prompt.text for request in house.engine.requests}
        assert "MARMALADE" in by_mind[f"{one.id}/Mr Bennet"]
        assert "MARMALADE" not in by_mind[f"{two.id}/Mr Bennet"]


async def test_a_channel_has_one_scene_at_a_time(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        with pytest.raises(Refused):
            await house.begin()
        await house.theatre.end(scene, GM)
        assert house.theatre.at(10) is None
        await house.begin()


async def test_ending_a_scene_breaks_off_what_it_owed(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        house.engine.gate.clear()
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.theatre.end(scene, GM)
        assert house.engine.running == 0
        assert house.stage.shown == []
        assert await house.store.owed(scene.id) == []


async def test_a_paused_scene_hears_nothing_and_goes_on_where_it_was(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.theatre.controls.pause(await house.begin(), GM)
        await house.say(scene, "Papa?", "Mr Bennet")
        scene = await house.theatre.controls.unpause(scene, GM)
        await house.say(scene, "Papa, now?", "Mr Bennet")
        await house.quiet(scene)
        assert next(text for _, text in await house.story(scene)) == "Papa, now?"


async def test_only_the_gm_directs(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        for forbidden in (
            house.theatre.controls.pause(scene, ALICE),
            house.theatre.controls.unpause(scene, ALICE),
            house.theatre.controls.clear(scene, ALICE),
            house.theatre.end(scene, ALICE),
            house.theatre.queries.read_prompt(scene, "Mr Bennet", ALICE),
            house.theatre.controls.reveal(scene, BeatKind.THOUGHT, None, ALICE),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await forbidden
        await house.theatre.end(scene, ALICE, moderates=True)


async def test_clearing_takes_everything_out_of_every_mind(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        await house.say(scene, "MARMALADE", "Mr Bennet")
        await house.quiet(scene)
        assert await house.theatre.controls.clear(scene, GM) == 2
        assert "MARMALADE" not in await house.theatre.queries.read_prompt(scene, "Mr Bennet", GM)


async def test_a_deleted_message_leaves_the_story_and_the_answer_it_was_owed_never_comes(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        house.engine.gate.clear()
        message = await house.say(scene, "MARMALADE", "Mr Bennet")
        await house.hearing.withdraw(scene, message)
        house.engine.gate.set()
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert await house.story(scene) == [
            ("Alice", "Papa?"),
            ("Mr Bennet", "smiles You refuse him, then?"),
        ]
        assert "MARMALADE" not in house.engine.requests[-1].prompt.text


async def test_an_edited_line_is_remembered_as_edited_and_not_answered_again(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        message = await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        await house.hearing.reword(scene, message, "Dear Papa?")
        assert (await house.story(scene))[0] == ("Alice", "Dear Papa?")
        assert len(house.engine.requests) == 1


async def test_reveal_toggles_between_private_and_public(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        assert (scene.reveal.thoughts, scene.reveal.planning) == (Destination.GM, Destination.GM)
        scene = await house.theatre.controls.reveal(scene, BeatKind.THOUGHT, None, GM)
        assert (scene.reveal.thoughts, scene.reveal.planning) == (
            Destination.SPOILER,
            Destination.GM,
        )
        scene = await house.theatre.controls.reveal(scene, BeatKind.THOUGHT, None, GM)
        assert scene.reveal.thoughts is Destination.GM
        scene = await house.theatre.controls.reveal(scene, BeatKind.PLANNING, Destination.OFF, GM)
        assert scene.reveal.planning is Destination.OFF


async def test_joining_and_leaving_follow_the_rules_of_the_cast(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.theatre.controls.join(await house.begin(), ALICE, "Papa")
        with pytest.raises(Refused, match="Another player"):
            await house.theatre.controls.join(scene, BOB, "Mr Bennet")
        with pytest.raises(NameNotFound, match="Elizabeth Bennet"):
            await house.theatre.controls.join(scene, BOB, "Elisabet Benet")
        scene = await house.theatre.controls.join(scene, ALICE, "Mrs Bennet")
        assert scene.part("Mr Bennet").by_model
        assert await house.theatre.controls.leave(scene, ALICE) == "Mrs Bennet"
        with pytest.raises(Refused):
            await house.theatre.controls.leave(scene, ALICE)


async def test_when_the_history_outgrows_the_context_the_channel_is_told_once(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET, limits=ReplyLimits(max_tokens=256), context=1400) as house:
        scene = await house.begin()
        for number in range(40):
            await house.say(
                scene,
                f"Line {number} of a long and winding evening in the library at Longbourn. " * 3,
            )
        for _ in range(2):
            await house.say(scene, "Papa?", "Mr Bennet")
            await house.quiet(scene)
        assert len(house.stage.notices) == 1
        prompt = house.engine.requests[0].prompt.text
        assert "You are Mr Bennet" in prompt
        assert "Line 0 of" not in prompt
        assert "Papa?" in prompt


async def test_a_sheet_that_leaves_no_room_is_said_and_not_cut(tmp_path: Path) -> None:
    async with a_house(tmp_path, BENNET, limits=ReplyLimits(max_tokens=256), context=300) as house:
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert "leave no room" in house.stage.faults[0]
        assert house.engine.requests == []


async def test_a_model_that_speaks_for_others_is_stopped_there(tmp_path: Path) -> None:
    rambling = Scripted(
        BENNET + "\n\nElizabeth Bennet: I do, Papa." + " And so on." * 500,
        reason=FinishReason.LENGTH,
    )
    async with a_house(tmp_path, rambling) as house:
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        assert house.stage.shown == [("Mr Bennet", "smiles You refuse him, then?")]
        assert len(house.engine.cancelled) == 1


async def test_everything_settled_streams_to_the_stage_and_nothing_private_does(
    tmp_path: Path,
) -> None:
    async with a_house(
        tmp_path, reply("Mr Bennet", plan="PLAN", thinks="SECRET", says="Well, well.")
    ) as house:
        scene = await house.begin()
        await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        texts = [beat.text for beats in house.stage.progressed for beat in beats]
        assert any("smiles" in text for text in texts)
        assert not any("SECRET" in text or "PLAN" in text for text in texts)


async def test_thoughts_of_a_reply_are_the_gms_unless_the_scene_reveals_them(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, BENNET) as house:
        scene = await house.begin()
        line = await house.say(scene, "Papa?", "Mr Bennet")
        await house.quiet(scene)
        turn = (await house.theatre.queries.read_history(scene))[1]
        await house.post(turn, 77)
        assert {
            freed.beat for freed in (await house.theatre.queries.read_thoughts(77, GM)).released
        } == {
            beat for beat in (turn.take.beats if turn.take else ()) if isinstance(beat, PrivateBeat)
        }
        with pytest.raises(Refused):
            await house.theatre.queries.read_thoughts(77, ALICE)
        await house.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.SPOILER, GM)
        assert [
            freed.beat.kind
            for freed in (await house.theatre.queries.read_thoughts(77, ALICE)).released
        ] == [BeatKind.THOUGHT]
        with pytest.raises(Refused, match="not a finished reply"):
            await house.theatre.queries.read_thoughts(line, GM)
