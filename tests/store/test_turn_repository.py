from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.errors import StoreError
from bot.her.beats import Beat, action, planning, speech, thought
from bot.scenes.posts import Post, PostPurpose
from bot.scenes.turn import NewLine, Take, TurnKind, TurnState
from bot.store.column_values import make_storable
from tests.store.conftest import ELIZA, NOON, a_line, begin, narrate, say

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from bot.store.store import Store

KINDS = (speech, action, thought, planning)
REPLY = (
    planning("He should tease."),
    thought("She knows."),
    action("looks up"),
    speech("Come in, Lizzy."),
)
INJECTION = "'); DROP TABLE turns; --"

texts = st.text(st.characters(exclude_categories=[]), max_size=60)  # surrogates and NUL included
some_beats = st.lists(
    st.builds(lambda kind, text: kind(text), st.sampled_from(KINDS), texts), max_size=5
)
same_store = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def as_stored(beat: Beat) -> Beat:
    return replace(beat, text=str(make_storable(beat.text)))


async def test_a_players_line_is_stored_as_a_finished_turn(store: Store, scene: Scene) -> None:
    turn = await say(store, scene, a_line("You sent for me?", message=900))
    assert (turn.kind, turn.state, turn.speaker) == (TurnKind.LINE, TurnState.DONE, "Elizabeth")
    assert (turn.author_id, turn.message_id, turn.created_at) == (ELIZA, 900, NOON)
    assert turn.take is not None
    assert turn.take == Take(turn.take.id, 1, (speech("You sent for me?"),), "You sent for me?")
    assert await store.turn(turn.id) == turn


async def test_a_line_is_stored_together_with_its_owed_replies(store: Store, scene: Scene) -> None:
    line, bennet, darcy = await store.add_line(scene.id, a_line(), ("Mr Bennet", "Mr Darcy"), NOON)
    assert line.state is TurnState.DONE
    assert [(turn.speaker, turn.state, turn.answers_id) for turn in (bennet, darcy)] == [
        ("Mr Bennet", TurnState.THINKING, line.id),
        ("Mr Darcy", TurnState.THINKING, line.id),
    ]
    assert await store.find_owed_turns(scene.id) == [bennet, darcy]


async def test_a_character_named_twice_owes_one_answer(store: Store, scene: Scene) -> None:
    assert len(await store.add_line(scene.id, a_line(), ("Mr Bennet", "Mr Bennet"), NOON)) == 2


async def test_the_same_message_is_stored_and_answered_once(store: Store, scene: Scene) -> None:
    assert await store.add_line(scene.id, a_line(message=900), ("Mr Bennet",), NOON)
    assert (
        await store.add_line(
            scene.id, a_line("edited meanwhile", message=900), ("Mr Bennet",), NOON
        )
        == ()
    )
    assert len(await store.turns(scene.id)) == 2


async def test_the_last_heard_message_is_kept_after_its_line_is_deleted(
    store: Store, scene: Scene
) -> None:
    assert await store.last_message_id(scene.id) is None
    for message in (900, 950, 920):
        await say(store, scene, a_line(message=message))
    assert await store.last_message_id(scene.id) == 950
    await store.forget_person(ELIZA)
    assert await store.last_message_id(scene.id) == 950


async def test_a_narration_is_spoken_by_the_environment(store: Store, scene: Scene) -> None:
    turn = await narrate(store, scene.id, "The door opens.", None, NOON)
    assert (turn.kind, turn.speaker, turn.state) == (
        TurnKind.NARRATION,
        "Environment",
        TurnState.DONE,
    )
    assert turn.take is not None
    assert turn.take.beats == (speech("The door opens."),)


async def test_a_reply_is_owed_until_it_is_settled(store: Store, scene: Scene) -> None:
    line = await say(store, scene)
    owed = await store.add_reply(scene.id, "Mr Bennet", line.id, NOON)
    assert (owed.state, owed.take, owed.answers_id) == (TurnState.THINKING, None, line.id)

    kept = await store.keep_take(owed.id, REPLY, "<raw>", 2**32 - 1)
    assert kept.take is not None
    assert (kept.take.number, kept.take.beats, kept.take.raw, kept.take.seed) == (
        1,
        REPLY,
        "<raw>",
        2**32 - 1,
    )
    assert await store.find_owed_turns(scene.id) == [kept]

    done = await store.settle(owed.id)
    assert (done.state, done.take) == (TurnState.DONE, kept.take)
    assert await store.find_owed_turns(scene.id) == []
    assert await store.turns(scene.id) == [line, done]


async def test_a_character_owes_the_same_answer_once(store: Store, scene: Scene) -> None:
    first, second = [await say(store, scene) for _ in range(2)]
    owed = await asyncio.gather(
        *(store.add_reply(scene.id, "Mr Bennet", first.id, NOON) for _ in range(5))
    )
    assert {turn.id for turn in owed} == {owed[0].id}
    assert (await store.add_reply(scene.id, "Mr Darcy", first.id, NOON)).id != owed[0].id
    assert (await store.add_reply(scene.id, "Mr Bennet", second.id, NOON)).id != owed[0].id


async def test_an_unprompted_reply_is_owed_once_until_it_is_done(
    store: Store, scene: Scene
) -> None:
    opening = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    assert await store.add_reply(scene.id, "Mr Bennet", None, NOON) == opening
    await store.settle(opening.id)
    assert (await store.add_reply(scene.id, "Mr Bennet", None, NOON)).id > opening.id


async def test_failures_without_a_notice_are_found(store: Store, scene: Scene) -> None:
    noticed, missed = [
        await store.add_reply(scene.id, character, None, NOON)
        for character in ("Mr Bennet", "Elizabeth")
    ]
    for turn in (noticed, missed):
        await store.fail(turn.id, "The thread is locked.")
    await store.add_post(Post(903, 500, noticed.id, None, 0, PostPurpose.FAULT))
    assert [turn.id for turn in await store.failures_without_notice(scene.id)] == [missed.id]


async def test_a_failed_reply_keeps_its_error_until_the_retry(store: Store, scene: Scene) -> None:
    owed = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    failed = await store.fail(owed.id, "The engine is busy: try again.")
    assert (failed.state, failed.fault) == (TurnState.FAILED, "The engine is busy: try again.")
    assert await store.find_owed_turns(scene.id) == []
    again = await store.rethink(owed.id)
    assert (again.state, again.fault) == (TurnState.THINKING, None)
    assert await store.rethink(owed.id) == again
    assert await store.find_owed_turns(scene.id) == [again]


async def test_an_unposted_reply_keeps_its_take(store: Store, scene: Scene) -> None:
    owed = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    kept = await store.keep_take(owed.id, REPLY, "", 1)
    assert (await store.fail(owed.id, "Discord refused it.")).take == kept.take
    assert (await store.rethink(owed.id)).take == kept.take


async def test_another_take_becomes_the_current_one(store: Store, scene: Scene) -> None:
    owed = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    await store.keep_take(owed.id, REPLY, "first", 1)
    second = await store.keep_take(owed.id, (speech("No."),), "second", 2)
    assert second.take is not None
    assert (second.take.number, second.take.beats, second.take.raw) == (
        2,
        (speech("No."),),
        "second",
    )


async def test_a_reply_hidden_during_generation_stays_hidden(store: Store, scene: Scene) -> None:
    owed = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    assert await store.hide_turns(scene.id) == 1
    assert (await store.keep_take(owed.id, REPLY, "", 1)).state is TurnState.HIDDEN
    assert (await store.settle(owed.id)).state is TurnState.HIDDEN
    assert (await store.fail(owed.id, "no")).state is TurnState.HIDDEN
    assert (await store.rethink(owed.id)).state is TurnState.HIDDEN
    assert await store.turns(scene.id) == []


async def test_hiding_affects_only_the_given_turns_and_counts_them_once(
    store: Store, scene: Scene
) -> None:
    other_scene = await begin(store, channel=501)
    first, second, third = [
        await narrate(store, scene.id, str(number), None, NOON) for number in range(3)
    ]
    foreign = await narrate(store, other_scene.id, "elsewhere", None, NOON)
    assert await store.hide_turns(scene.id, [first.id, third.id, foreign.id]) == 2
    assert await store.turns(scene.id) == [second]
    assert await store.hide_turns(scene.id, []) == 0
    assert await store.hide_turns(scene.id) == 1
    assert await store.turns(other_scene.id) == [foreign]
    hidden = await store.turn(first.id)
    assert hidden is not None
    assert hidden.state is TurnState.HIDDEN


async def test_thousands_of_turns_can_be_hidden_in_one_call(store: Store, scene: Scene) -> None:
    kept = await narrate(store, scene.id, "kept", None, NOON)
    assert await store.hide_turns(scene.id, range(kept.id + 1, 100_000)) == 0
    assert await store.hide_turns(scene.id, range(100_000)) == 1


async def test_a_turn_is_found_by_any_of_its_messages(store: Store, scene: Scene) -> None:
    line = await say(store, scene, a_line(message=900))
    reply = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    await store.add_post(Post(901, 500, reply.id, None, 0, PostPurpose.PERSONA))
    await store.add_post(Post(902, 500, reply.id, None, 1, PostPurpose.PERSONA))
    assert await store.turn_by_message(900) == line
    assert await store.turn_by_message(901) == reply
    assert await store.turn_by_message(902) == reply
    assert await store.turn_by_message(903) is None


async def test_an_edit_replaces_a_lines_text(store: Store, scene: Scene) -> None:
    line = await say(store, scene, a_line("Secret!", message=900))
    await store.reword_line(line.id, "*curtsies* Papa?", (action("curtsies"), speech("Papa?")))
    after = await store.turn(line.id)
    assert after is not None
    assert after.take is not None
    assert (after.take.raw, after.take.number) == ("*curtsies* Papa?", 1)
    assert after.take.beats == (action("curtsies"), speech("Papa?"))
    assert [line.text for line in await store.lines_of(ELIZA)] == ["*curtsies* Papa?"]


async def test_setting_the_clock_back_keeps_the_order_of_turns(store: Store, scene: Scene) -> None:
    for hours in (0, -5, 3, -9):
        await narrate(store, scene.id, str(hours), None, NOON + timedelta(hours=hours))
    told = await store.turns(scene.id)
    assert [turn.take.raw for turn in told if turn.take] == ["0", "-5", "3", "-9"]


async def test_fifty_people_at_once_lose_no_line(store: Store, scene: Scene) -> None:
    lines = [a_line(f"line {number}", author=number) for number in range(50)]
    stored = await asyncio.gather(*(say(store, scene, line) for line in lines))
    told = await store.turns(scene.id)
    assert told == stored
    assert [turn.take.raw for turn in told if turn.take] == [line.text for line in lines]


async def test_scenes_never_see_each_others_turns(store: Store, scene: Scene) -> None:
    other = await begin(store, channel=501)
    mine, yours = [await narrate(store, place.id, "here", None, NOON) for place in (scene, other)]
    assert await store.turns(scene.id) == [mine]
    assert await store.turns(other.id) == [yours]


async def test_sql_in_every_field_stays_text(store: Store, scene: Scene) -> None:
    line = await say(store, scene, NewLine(1, INJECTION, 900, INJECTION, (speech(INJECTION),)))
    reply = await store.add_reply(scene.id, INJECTION, None, NOON)
    assert reply.speaker == INJECTION
    await store.keep_take(reply.id, [kind(INJECTION) for kind in KINDS], INJECTION, 1)
    failed = await store.fail(reply.id, INJECTION)
    assert failed.fault == INJECTION
    narration = await narrate(store, scene.id, INJECTION, None, NOON)
    assert await store.turns(scene.id) == [line, failed, narration]


@same_store
@given(beats=some_beats, raw=texts, character=texts)
async def test_any_reply_round_trips_beat_by_beat(
    store: Store, scene: Scene, beats: list[Beat], raw: str, character: str
) -> None:
    owed = await store.add_reply(scene.id, character, None, NOON)
    done = await store.keep_take(owed.id, beats, raw, 1)
    assert done.take is not None
    assert done.take.beats == tuple(as_stored(beat) for beat in beats)
    assert (done.take.raw, done.speaker) == (make_storable(raw), make_storable(character))
    assert await store.turn(owed.id) == done


async def test_replies_to_unknown_scenes_and_turns_are_rejected(store: Store) -> None:
    with pytest.raises(StoreError):
        await store.add_line(99, a_line(), (), NOON)
    for change in (
        store.keep_take(99, REPLY, "", 1),
        store.settle(99),
        store.fail(99, ""),
        store.reword_line(99, "", ()),
    ):
        with pytest.raises(StoreError, match="was deleted"):
            await change
    assert await store.turn(99) is None
    assert await store.turns(99) == []
