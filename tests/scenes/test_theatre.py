"""A scene from start to end: lines, replies, failures, restarts and the rules of the GM."""

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
from tests.scenes.harness import ALICE, BOB, GM, open_harness, reply

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene

BENNET = reply("Mr Bennet", says="You refuse him, then?")
MADAM = reply("Mrs Bennet", says="My nerves!")


async def test_an_addressed_character_answers(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "You sent for me, Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert await harness.read_story(scene) == [
            ("Alice", "You sent for me, Papa?"),
            ("Mr Bennet", "smiles You refuse him, then?"),
        ]
        assert harness.delivery.shown == [("Mr Bennet", "smiles You refuse him, then?")]


async def test_a_line_without_an_addressee_is_heard_and_not_answered(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "What weather.")
        await harness.wait_until_idle(scene)
        assert await harness.read_story(scene) == [("Alice", "What weather.")]
        assert harness.engine.requests == []


async def test_two_addressed_characters_answer_in_the_order_of_mention(tmp_path: Path) -> None:
    async with open_harness(tmp_path, MADAM, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "Mama, Papa!", "Mrs Bennet", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in harness.delivery.shown] == ["Mrs Bennet", "Mr Bennet"]
        assert "My nerves!" in harness.engine.requests[1].prompt.text


async def test_a_player_speaks_as_their_character(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(await harness.start(), ALICE, "elizabeth")
        await harness.say(scene, "*curtsies* Papa.", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert (await harness.read_story(scene))[0] == ("Elizabeth Bennet", "curtsies Papa.")
        assert (
            "Elizabeth Bennet: <role_action>curtsies</role_action>"
            in harness.engine.requests[0].prompt.text
        )


async def test_the_model_does_not_answer_for_a_players_character(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(await harness.start(), BOB, "Mr Bennet")
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert harness.engine.requests == []


async def test_a_display_name_cannot_imitate_a_character(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "I have changed my mind.", name="MR. BENNET")
        assert (await harness.read_story(scene))[0][0] == "MR. BENNET (player)"


async def test_a_mention_of_the_bot_addresses_the_last_speaker(tmp_path: Path) -> None:
    async with open_harness(tmp_path, MADAM) as harness:
        scene = await harness.start()
        await harness.say(scene, "Mama?", "Mrs Bennet")
        await harness.wait_until_idle(scene)
        await harness.say(scene, "And then?", bot=True)
        await harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in harness.delivery.shown] == ["Mrs Bennet", "Mrs Bennet"]


async def test_lines_out_of_character_are_ignored(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "((brb, tea))", "Mr Bennet")
        await harness.say(scene, "// so good", "Mr Bennet")
        await harness.say(scene, "   ", "Mr Bennet")
        assert await harness.read_story(scene) == []


async def test_a_message_delivered_twice_is_heard_once(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        for _ in range(2):
            harness.ids = iter([5])  # type: ignore[assignment]
            await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert len(harness.engine.requests) == 1


async def test_no_mind_reads_the_thoughts_or_planning_of_another(tmp_path: Path) -> None:
    secretive = reply("Mr Bennet", plan="PLAN-1", thinks="SECRET-1", says="Well.")
    async with open_harness(tmp_path, secretive, MADAM, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        await harness.say(scene, "Mama?", "Mrs Bennet", "Mr Bennet")
        await harness.wait_until_idle(scene)
        madam, bennet = (request.prompt.text for request in harness.engine.requests[1:])
        assert "SECRET-1" not in madam
        assert "He will not lose Lizzy." not in madam
        assert "SECRET-1" in bennet
        assert "PLAN-1" not in madam + bennet


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


async def test_one_death_of_the_engine_goes_unnoticed(tmp_path: Path) -> None:
    died = Scripted(
        "A plan</system_thinking>Mr Bennet: Half a", error=EngineDied("The worker is gone.")
    )
    async with open_harness(tmp_path, died, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert harness.delivery.shown == [("Mr Bennet", "smiles You refuse him, then?")]


async def test_only_the_addressed_person_and_the_gm_try_a_failed_reply_again(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, EngineBusy("Too many wait."), EngineBusy("Too many wait."), BENNET
    ) as harness:
        scene = await harness.start()
        for person in (ALICE, GM):
            await harness.wait_until_idle(scene)
            if person == ALICE:
                await harness.say(scene, "Papa?", "Mr Bennet")
                await harness.wait_until_idle(scene)
            (turn,) = [
                turn
                for turn in await harness.store.turns(scene.id)
                if turn.state is TurnState.FAILED
            ]
            with pytest.raises(Refused):
                await harness.takes.retry(turn.id, BOB)
            await harness.takes.retry(turn.id, person)
        await harness.wait_until_idle(scene)
        assert harness.delivery.faults == ["Too many wait."] * 2
        assert len(harness.delivery.shown) == 1
        with pytest.raises(Refused):
            await harness.takes.retry(turn.id, GM)


async def test_a_rejected_reply_is_kept_and_posted_by_the_next_attempt(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        harness.delivery.refusal = MissingPermission("Aside lacks Send Messages in #study.")
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert harness.delivery.faults == ["Aside lacks Send Messages in #study."]
        harness.delivery.refusal = None
        (turn,) = [
            turn for turn in await harness.store.turns(scene.id) if turn.state is TurnState.FAILED
        ]
        await harness.takes.retry(turn.id, ALICE)
        await harness.wait_until_idle(scene)
        assert len(harness.delivery.shown) == 1
        assert len(harness.engine.requests) == 1


async def test_owed_replies_survive_a_restart(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
    async with open_harness(tmp_path, BENNET) as harness:
        assert harness.theatre.require_scene(10).id == scene.id
        harness.theatre.play_owed()
        await harness.wait_until_idle(scene)
        assert len(harness.delivery.shown) == 1


async def test_a_scene_survives_a_restart(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(await harness.start(), ALICE, "Elizabeth")
        scene = await harness.theatre.controls.reveal(
            scene, BeatKind.THOUGHT, Destination.SPOILER, GM
        )
        scene = await harness.theatre.controls.pause(scene, GM)
    async with open_harness(tmp_path, BENNET) as harness:
        assert harness.theatre.require_scene(10) == scene


async def test_two_scenes_never_hear_each_other(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        one, two = await harness.start(10), await harness.start(11)
        await harness.say(one, "The word is MARMALADE.", "Mr Bennet")
        await harness.say(two, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(one)
        await harness.wait_until_idle(two)
        by_mind = {request.mind: request.prompt.text for request in harness.engine.requests}
        assert "MARMALADE" in by_mind[f"{one.id}/Mr Bennet"]
        assert "MARMALADE" not in by_mind[f"{two.id}/Mr Bennet"]


async def test_a_channel_has_one_scene_at_a_time(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        with pytest.raises(Refused):
            await harness.start()
        await harness.theatre.end(scene, GM)
        assert harness.theatre.at(10) is None
        await harness.start()


async def test_the_end_of_a_scene_cancels_owed_replies(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.theatre.end(scene, GM)
        assert harness.engine.running == 0
        assert harness.delivery.shown == []
        assert await harness.store.owed_turns(scene.id) == []


async def test_a_paused_scene_does_not_hear_and_later_continues(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.pause(await harness.start(), GM)
        await harness.say(scene, "Papa?", "Mr Bennet")
        scene = await harness.theatre.controls.unpause(scene, GM)
        await harness.say(scene, "Papa, now?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert next(text for _, text in await harness.read_story(scene)) == "Papa, now?"


async def test_only_the_gm_directs(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        for forbidden in (
            harness.theatre.controls.pause(scene, ALICE),
            harness.theatre.controls.unpause(scene, ALICE),
            harness.theatre.controls.clear(scene, ALICE),
            harness.theatre.end(scene, ALICE),
            harness.theatre.queries.read_prompt(scene, "Mr Bennet", ALICE),
            harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, None, ALICE),
        ):
            with pytest.raises(Refused, match="Only the game master"):
                await forbidden
        await harness.theatre.end(scene, ALICE, moderates=True)


async def test_clear_removes_every_turn_from_every_mind(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "MARMALADE", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert await harness.theatre.controls.clear(scene, GM) == 2
        assert "MARMALADE" not in await harness.theatre.queries.read_prompt(scene, "Mr Bennet", GM)


async def test_a_deleted_message_leaves_the_story_and_is_not_answered(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        harness.engine.gate.clear()
        message = await harness.say(scene, "MARMALADE", "Mr Bennet")
        await harness.player_lines.withdraw(scene, message)
        harness.engine.gate.set()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert await harness.read_story(scene) == [
            ("Alice", "Papa?"),
            ("Mr Bennet", "smiles You refuse him, then?"),
        ]
        assert "MARMALADE" not in harness.engine.requests[-1].prompt.text


async def test_an_edited_line_is_not_answered_again(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        message = await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        await harness.edit(scene, message, "Dear Papa?", "Mr Bennet")
        assert (await harness.read_story(scene))[0] == ("Alice", "Dear Papa?")
        assert len(harness.engine.requests) == 1


async def test_reveal_toggles_between_private_and_public(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        assert (scene.reveal.thoughts, scene.reveal.planning) == (Destination.GM, Destination.GM)
        scene = await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, None, GM)
        assert (scene.reveal.thoughts, scene.reveal.planning) == (
            Destination.SPOILER,
            Destination.GM,
        )
        scene = await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, None, GM)
        assert scene.reveal.thoughts is Destination.GM
        scene = await harness.theatre.controls.reveal(scene, BeatKind.PLANNING, Destination.OFF, GM)
        assert scene.reveal.planning is Destination.OFF


async def test_join_and_leave_follow_the_rules_of_the_cast(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(await harness.start(), ALICE, "Papa")
        with pytest.raises(Refused, match="Another player"):
            await harness.theatre.controls.join(scene, BOB, "Mr Bennet")
        with pytest.raises(NameNotFound, match="Elizabeth Bennet"):
            await harness.theatre.controls.join(scene, BOB, "Elisabet Benet")
        scene = await harness.theatre.controls.join(scene, ALICE, "Mrs Bennet")
        assert scene.part("Mr Bennet").by_model
        assert await harness.theatre.controls.leave(scene, ALICE) == "Mrs Bennet"
        with pytest.raises(Refused):
            await harness.theatre.controls.leave(scene, ALICE)


async def test_the_channel_gets_one_notice_if_the_history_outgrows_the_context(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, BENNET, limits=ReplyLimits(max_tokens=256), context=1400
    ) as harness:
        scene = await harness.start()
        for number in range(40):
            await harness.say(
                scene,
                f"Line {number} of a long and winding evening in the library at Longbourn. " * 3,
            )
        for _ in range(2):
            await harness.say(scene, "Papa?", "Mr Bennet")
            await harness.wait_until_idle(scene)
        assert len(harness.delivery.notices) == 1
        prompt = harness.engine.requests[0].prompt.text
        assert "You are Mr Bennet" in prompt
        assert "Line 0 of" not in prompt
        assert "Papa?" in prompt


async def test_a_description_too_long_for_the_context_is_reported_and_not_cut(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, BENNET, limits=ReplyLimits(max_tokens=256), context=300
    ) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert "leave no room" in harness.delivery.faults[0]
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


async def test_only_final_public_beats_stream(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, reply("Mr Bennet", plan="PLAN", thinks="SECRET", says="Well, well.")
    ) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        texts = [beat.text for beats in harness.delivery.progressed for beat in beats]
        assert any("smiles" in text for text in texts)
        assert not any("SECRET" in text or "PLAN" in text for text in texts)


async def test_thoughts_are_the_gms_unless_the_scene_reveals_them(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        line = await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        turn = (await harness.theatre.queries.read_history(scene))[1]
        await harness.post(turn, 77)
        assert {
            freed.beat for freed in (await harness.theatre.queries.read_thoughts(77, GM)).released
        } == {
            beat for beat in (turn.take.beats if turn.take else ()) if isinstance(beat, PrivateBeat)
        }
        with pytest.raises(Refused):
            await harness.theatre.queries.read_thoughts(77, ALICE)
        await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.SPOILER, GM)
        with pytest.raises(Refused):  # the decision applies to later replies
            await harness.theatre.queries.read_thoughts(77, ALICE)
        await harness.takes.retake(turn.id, GM)
        await harness.wait_until_idle(scene)
        assert [
            freed.beat.kind
            for freed in (await harness.theatre.queries.read_thoughts(77, ALICE)).released
        ] == [BeatKind.THOUGHT]
        with pytest.raises(Refused, match="not a finished reply"):
            await harness.theatre.queries.read_thoughts(line, GM)


async def test_a_discarded_scene_leaves_nothing_behind(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.theatre.discard(scene)
        assert harness.engine.running == 0
        assert harness.theatre.scenes() == ()
        assert await harness.store.scene(scene.id) is None
        await harness.start()


async def test_the_end_of_a_scene_is_reported(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        ended: list[int] = []

        async def note(scene: Scene) -> None:
            ended.append(scene.id)

        harness.theatre.on_end = note
        scene = await harness.start()
        await harness.theatre.end(scene, GM)
        assert ended == [scene.id]
