"""Takes in the store: the current one, failed retries, undo, and branches."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.errors import Refused
from bot.her.beats import speech, thought
from bot.scenes.note import NewNote
from bot.scenes.posts import Post, PostPurpose
from bot.scenes.scene import Place
from bot.scenes.turn import TurnState
from tests.store.conftest import ELIZA, GM, NOON, a_line, begin, say

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from bot.store.store import Store


async def replied(store: Store, scene: Scene, *takes: str) -> Turn:
    """Store a finished reply with these takes. The last one is current."""
    turn = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    for text in takes:
        await store.keep_take(turn.id, (thought(f"About {text}"), speech(text)), text, 7)
        await store.settle(turn.id)
        if text != takes[-1]:
            await store.retake(turn.id)
    return await now(store, turn)


async def now(store: Store, turn: Turn) -> Turn:
    found = await store.turn(turn.id)
    assert found
    return found


def text(turn: Turn) -> str | None:
    return turn.take.raw if turn.take else None


async def test_a_turn_lists_its_takes_in_order(store: Store, scene: Scene) -> None:
    turn = await replied(store, scene, "One.", "Two.", "Three.")
    assert len(turn.takes) == 3
    assert turn.take
    assert turn.take.id == turn.takes[-1]
    assert text(await store.choose_take(turn.id, turn.takes[0])) == "One."


async def test_only_takes_of_the_same_finished_turn_can_be_chosen(
    store: Store, scene: Scene
) -> None:
    turn = await replied(store, scene, "One.", "Two.")
    other = await replied(store, scene, "Uno.")
    assert text(await store.choose_take(turn.id, other.takes[0])) == "Two."
    await store.retake(turn.id)
    assert text(await store.choose_take(turn.id, turn.takes[0])) is None


async def test_a_failed_retry_restores_the_former_take(store: Store, scene: Scene) -> None:
    turn = await replied(store, scene, "One.", "Two.")
    await store.choose_take(turn.id, turn.takes[0])
    await store.retake(turn.id)
    failed = await store.fail(turn.id, "Too many wait.")
    assert (failed.state, text(failed), failed.fault) == (TurnState.DONE, "One.", None)
    await store.retake(turn.id)
    await store.give_up([turn.id])
    assert text(await now(store, turn)) == "One."


async def test_an_unposted_take_of_a_failed_retry_is_replaced_by_the_former(
    store: Store, scene: Scene
) -> None:
    turn = await replied(store, scene, "One.")
    await store.retake(turn.id)
    await store.keep_take(turn.id, (speech("Two."),), "Two.", 7)
    failed = await store.fail(turn.id, "Lost.")
    assert (failed.state, text(failed), len(failed.takes)) == (TurnState.DONE, "One.", 2)


async def test_a_take_that_could_not_be_delivered_can_be_discarded(
    store: Store, scene: Scene
) -> None:
    turn = await replied(store, scene, "One.")
    await store.retake(turn.id)
    await store.keep_take(turn.id, (speech("Two."),), "Two.", 7)
    failed = await store.fail(turn.id, "Refused.", discard_take=True)
    assert (failed.state, text(failed), len(failed.takes)) == (TurnState.DONE, "One.", 1)


async def test_the_current_take_is_never_discarded(store: Store, scene: Scene) -> None:
    turn = await replied(store, scene, "One.", "Two.")
    assert turn.take is not None
    for take_id in turn.takes:
        await store.discard_take(turn.id, take_id)
    assert (await now(store, turn)).takes == (turn.take.id,)


async def test_a_continued_turn_returns_the_take_it_continues(store: Store, scene: Scene) -> None:
    turn = await replied(store, scene, "One.")
    owed = await store.retake(turn.id, lengthen=True)
    assert owed.take is None
    assert owed.lengthens == turn.take
    assert (await store.find_owed_turns(scene.id)) == [owed]
    kept = await store.keep_take(turn.id, (speech("One. And two."),), "One. And two.", 7)
    assert (text(kept), kept.lengthens) == ("One. And two.", turn.take)
    assert (await store.settle(turn.id)).lengthens is None
    assert (await store.retake(turn.id)).lengthens is None


async def test_only_finished_replies_can_be_retried(store: Store, scene: Scene) -> None:
    turn = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    await store.fail(turn.id, "Lost.")
    assert (await store.retake(turn.id)).state is TurnState.FAILED
    await store.hide_turns(scene.id, [turn.id])
    assert (await store.retake(turn.id)).state is TurnState.HIDDEN


async def test_a_rewritten_take_belongs_to_its_author(store: Store, scene: Scene) -> None:
    turn = await replied(store, scene, "One.")
    rewritten = await store.rewrite(turn.id, (speech("Uno."),), "Uno.", GM)
    assert (text(rewritten), len(rewritten.takes), rewritten.state) == ("Uno.", 2, TurnState.DONE)
    (line,) = await store.lines_of(GM)
    assert (line.text, line.speaker, line.message_id) == ("Uno.", "Mr Bennet", None)
    await store.forget_person(GM)
    assert text(await now(store, turn)) == "One."
    assert await store.lines_of(GM) == []


async def test_turns_undone_together_are_restored_together(store: Store, scene: Scene) -> None:
    first, second, third = [await say(store, scene) for _ in range(3)]
    thinking = await store.add_reply(scene.id, "Mr Bennet", None, NOON)
    undone = await store.undo(scene.id, [second.id, thinking.id], NOON)
    later = await store.undo(scene.id, [third.id], NOON + timedelta(seconds=1))
    assert [turn.id for turn in undone] == [second.id]
    assert [turn.id for turn in await store.turns(scene.id)] == [first.id]
    moment = await store.last_undone(scene.id)
    assert moment == later[0].undone_at
    assert undone[0].undone_at
    assert [turn.id for turn in await store.restore(scene.id, undone[0].undone_at)] == [second.id]
    assert [turn.id for turn in await store.turns(scene.id)] == [first.id, second.id]
    assert (await now(store, thinking)).state is TurnState.HIDDEN
    assert await store.restore(scene.id, undone[0].undone_at) == []


async def test_undo_and_restore_leave_other_scenes_alone(store: Store, scene: Scene) -> None:
    other = await begin(store, 501)
    turn = await say(store, other)
    assert await store.undo(scene.id, [turn.id], NOON) == []
    (undone,) = await store.undo(other.id, [turn.id], NOON)
    assert undone.undone_at
    assert await store.restore(scene.id, undone.undone_at) == []
    assert await store.last_undone(scene.id) is None


async def test_turns_hidden_for_good_are_never_restored(store: Store, scene: Scene) -> None:
    turn = await say(store, scene)
    (undone,) = await store.undo(scene.id, [turn.id], NOON)
    assert await store.hide_turns(scene.id, [turn.id]) == 0
    assert undone.undone_at
    assert await store.restore(scene.id, undone.undone_at) == []


async def test_posts_with_an_outdated_take_are_found(store: Store, scene: Scene) -> None:
    turn = await replied(store, scene, "One.", "Two.")
    assert turn.take
    await store.add_post(Post(900, 500, turn.id, turn.take.id, 0, PostPurpose.PERSONA))
    await store.add_post(Post(901, 600, turn.id, turn.takes[0], 0, PostPurpose.GM))
    assert await store.find_outdated_turns() == []
    await store.choose_take(turn.id, turn.takes[0])
    assert [one.id for one in await store.find_outdated_turns()] == [turn.id]
    await store.undo(scene.id, [turn.id], NOON)
    assert [one.id for one in await store.find_outdated_turns()] == [turn.id]
    await store.add_post(Post(900, 500, turn.id, None, 0, PostPurpose.PERSONA))
    assert await store.find_outdated_turns() == []


async def test_posts_with_buttons_are_found_by_channel(store: Store, scene: Scene) -> None:
    turn = await replied(store, scene, "One.")
    for message, controls in ((900, False), (901, True)):
        await store.add_post(
            Post(message, 500, turn.id, None, 0, PostPurpose.PERSONA, controls=controls)
        )
    assert [post.message_id for post in await store.posts_with_controls(500)] == [901]
    assert await store.posts_with_controls(501) == []
    await store.add_post(Post(901, 500, turn.id, None, 0, PostPurpose.PERSONA))
    assert await store.posts_with_controls(500) == []


async def test_a_branch_is_an_independent_copy_up_to_one_turn(store: Store, scene: Scene) -> None:
    line, answer = await store.add_line(scene.id, a_line(message=900), ("Mr Bennet",), NOON)
    await store.keep_take(answer.id, (thought("Hm."), speech("One.")), "One.", 7)
    await store.settle(answer.id)
    await store.add_note(scene.id, NewNote(GM, None, "It rains."), NOON)
    hidden = await say(store, scene)
    after = await say(store, scene)
    await store.undo(scene.id, [hidden.id], NOON)
    branch = await store.branch(scene, after.id - 1, Place(1, 800, 500), NOON)
    assert branch.place == Place(1, 800, 500)
    assert (branch.scenario, branch.gm_ids, branch.parts) == (
        scene.scenario,
        scene.gm_ids,
        scene.parts,
    )
    copied_line, copied = await store.turns(branch.id)
    assert (copied.answers_id, copied.speaker, copied.take and copied.take.beats) == (
        copied_line.id,
        "Mr Bennet",
        (thought("Hm."), speech("One.")),
    )
    assert (
        copied_line.author_id,
        copied_line.message_id,
        copied_line.take and copied_line.take.raw,
    ) == (
        ELIZA,
        None,
        line.take and line.take.raw,
    )
    assert [note.text for note in await store.notes(branch.id)] == ["It rains."]
    await store.hide_turns(branch.id)
    assert len(await store.turns(scene.id)) == 3
    assert await store.last_message_id(branch.id) is None


async def test_a_branch_into_a_busy_channel_is_refused(store: Store, scene: Scene) -> None:
    turn = await say(store, scene)
    with pytest.raises(Refused):
        await store.branch(scene, turn.id, scene.place, NOON)
