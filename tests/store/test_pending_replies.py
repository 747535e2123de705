"""One reply may answer several lines."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.her.beats import speech
from bot.scenes.turn import TurnKind, TurnState
from tests.store.conftest import ELIZA, NOON, a_line, say

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from bot.store.store import Store

ONE = ("Mr Bennet",)


async def test_one_reply_to_two_lines_comes_after_both(store: Store, scene: Scene) -> None:
    first, early = await store.add_line(scene.id, a_line("Papa?"), ONE, NOON)
    second, late = await store.add_line(scene.id, a_line("Papa!"), ONE, NOON + timedelta(seconds=5))
    assert await store.find_owed_turns(scene.id) == [late]
    assert late.id > second.id > early.id
    assert late.answered == (first.id, second.id)
    assert late.created_at == NOON
    hidden = await store.turn(early.id)
    assert hidden is not None
    assert hidden.state is TurnState.HIDDEN


async def test_a_line_during_a_reply_gets_another_reply(store: Store, scene: Scene) -> None:
    _, begun = await store.add_line(scene.id, a_line(), ONE, NOON)
    second, other = await store.add_line(scene.id, a_line(), ONE, NOON, begun=begun.id)
    assert await store.find_owed_turns(scene.id) == [begun, other]
    assert other.answered == (second.id,)


async def test_written_and_retried_replies_are_not_merged(store: Store, scene: Scene) -> None:
    _, written = await store.add_line(scene.id, a_line(), ONE, NOON)
    await store.keep_take(written.id, (speech("Well."),), "Well.", 1)
    await store.add_line(scene.id, a_line(), ONE, NOON)
    await store.settle(written.id)
    anew = await store.retake(written.id)
    await store.add_line(scene.id, a_line(), ONE, NOON)
    first, second = await store.find_owed_turns(scene.id)
    assert first.id == anew.id
    assert second.answered != anew.answered


async def test_an_unprompted_reply_is_merged_with_a_prompted_one(
    store: Store, scene: Scene
) -> None:
    await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    line, _ = await store.add_line(scene.id, a_line(), ONE, NOON)
    (owed,) = await store.find_owed_turns(scene.id)
    assert owed.answered == (line.id,)


async def test_a_deleted_line_is_dropped_from_a_reply_to_two_lines(
    store: Store, scene: Scene
) -> None:
    first, _ = await store.add_line(scene.id, a_line(), ONE, NOON)
    second, owed = await store.add_line(scene.id, a_line(), ONE, NOON)
    assert await store.drop_answered_line(owed.id, second.id)
    left = await store.turn(owed.id)
    assert left is not None
    assert left.answered == (first.id,)
    assert not await store.drop_answered_line(owed.id, first.id)


async def test_a_whisper_is_answered_by_a_separate_whisper(store: Store, scene: Scene) -> None:
    _, aloud = await store.add_line(scene.id, a_line(), ONE, NOON)
    whisper = replace(
        a_line("Is it true?"), message_id=None, kind=TurnKind.WHISPER, heard_by=frozenset(ONE)
    )
    said, owed = await store.add_line(scene.id, whisper, ONE, NOON)
    assert (said.kind, said.heard_by, said.message_id) == (TurnKind.WHISPER, frozenset(ONE), None)
    assert (owed.kind, owed.heard_by, owed.listener_id) == (TurnKind.WHISPER, frozenset(ONE), ELIZA)
    assert not said.public
    assert await store.find_owed_turns(scene.id) == [aloud, owed]
    await store.forget_person(ELIZA)
    left = await store.turn(owed.id)
    assert left is not None
    assert (left.listener_id, left.answered) == (None, ())


async def test_a_turns_audience_is_stored(store: Store, scene: Scene) -> None:
    line = await say(store, scene, replace(a_line(), heard_by=frozenset({"Élise “X”"})))
    assert line.heard_by == frozenset({"Élise “X”"})
    await store.set_audience([line.id], frozenset())
    told = await store.turn(line.id)
    assert told is not None
    assert told.heard_by == frozenset()
    await store.set_audience([line.id], None)
    told = await store.turn(line.id)
    assert told is not None
    assert told.heard_by is None
