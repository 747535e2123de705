"""Generation stops at once if the line that it answers is gone, or the part is taken."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING

import pytest

from bot.scenes import cast
from bot.scenes.data_deletion import DataDeletion
from bot.scenes.gm_actions import GmActions
from bot.scenes.turn import TurnState
from tests.engine.scripted_engine import Scripted
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from bot.scenes.posts import Post
    from bot.scenes.scene import Place, Scene
    from bot.scenes.turn import Take, Turn
    from tests.scenes.scene_harness import TheatreHarness

BENNET = reply("Mr Bennet", says="You refuse him?")
MADAM = reply("Mrs Bennet", says="My nerves!")


class NoMessages:
    """Implements Eraser without any messages."""

    async def erase(self, _place: Place, _post: Post) -> None:
        return


async def delete(harness: TheatreHarness, _scene: Scene, message: int) -> None:
    await harness.line_changes.withdraw(message, 10)


async def empty(harness: TheatreHarness, scene: Scene, message: int) -> None:
    await harness.edit(scene, message, "   ")


async def comment_out(harness: TheatreHarness, scene: Scene, message: int) -> None:
    await harness.edit(scene, message, "// never mind")


async def hide(harness: TheatreHarness, _scene: Scene, message: int) -> None:
    turn = await harness.store.turn_by_message(message)
    assert turn
    await harness.undo.hide(turn.id, GM)


async def rewind(harness: TheatreHarness, scene: Scene, _message: int) -> None:
    first = (await harness.theatre.queries.read_history(scene))[0]
    await harness.undo.rewind(first.id, GM)


async def clear(harness: TheatreHarness, scene: Scene, _message: int) -> None:
    await harness.theatre.controls.clear(scene, GM)


async def forget(harness: TheatreHarness, _scene: Scene, _message: int) -> None:
    deletion = DataDeletion(
        scenes=harness.theatre,
        store=harness.store,
        characters=harness.characters,
        eraser=NoMessages(),
        takes=harness.takes,
    )
    assert await deletion.forget(ALICE) == (1, 0)


async def end(harness: TheatreHarness, scene: Scene, _message: int) -> None:
    await harness.theatre.end(scene, GM)


GONE = [delete, empty, comment_out, hide, rewind, clear, forget, end]


async def take_part(harness: TheatreHarness, scene: Scene, _message: int) -> None:
    await harness.theatre.controls.join(scene, BOB, "Mr Bennet")


async def hand_part(harness: TheatreHarness, scene: Scene, _message: int) -> None:
    await GmActions(harness.theatre, harness.store).hand(scene, "Mr Bennet", BOB, GM)


async def let_rest(harness: TheatreHarness, scene: Scene, _message: int) -> None:
    await harness.theatre.change(scene, lambda now: cast.rest(now, "Mr Bennet", rests=True))


async def leave_stage(harness: TheatreHarness, scene: Scene, _message: int) -> None:
    await GmActions(harness.theatre, harness.store).leave_stage(scene, "Mr Bennet", GM)


TAKEN = [take_part, hand_part, let_rest, leave_stage]


async def generating(harness: TheatreHarness, *names: str) -> tuple[Scene, int]:
    """Start a scene in which these characters owe an answer to a line that is its second turn."""
    scene = await harness.start()
    await harness.say(scene, "It rains.", author=BOB, name="Bob")
    message = await harness.say(scene, "Well?", *names)
    await until(lambda: harness.engine.running == 1)
    return scene, message


async def asked(harness: TheatreHarness) -> tuple[Scene, int]:
    """Start a scene with a line to Mr Bennet. Return it with the message's id."""
    scene = await harness.start()
    return scene, await harness.say(scene, "Well?", "Mr Bennet")


@pytest.mark.parametrize("cause", GONE)
async def test_the_engine_is_free_and_no_character_answers_if_the_line_is_gone(
    tmp_path: Path, cause: Callable[[TheatreHarness, Scene, int], Awaitable[None]]
) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        harness.engine.gate.clear()
        scene, message = await generating(harness, "Mr Bennet", "Mrs Bennet")
        await cause(harness, scene, message)
        await until(lambda: harness.engine.running == 0, within=1.0)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert len(harness.engine.requests) == 1
        assert harness.delivery.shown == []


@pytest.mark.parametrize("cause", TAKEN)
async def test_the_engine_is_free_if_the_model_may_not_speak_for_the_character(
    tmp_path: Path, cause: Callable[[TheatreHarness, Scene, int], Awaitable[None]]
) -> None:
    async with open_harness(tmp_path, BENNET, MADAM) as harness:
        harness.engine.gate.clear()
        scene, message = await generating(harness, "Mr Bennet", "Mrs Bennet")
        await cause(harness, scene, message)
        await until(lambda: bool(harness.engine.cancelled), within=1.0)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert harness.delivery.shown == [("Mrs Bennet", "smiles My nerves!")]


@pytest.mark.parametrize("cause", [delete, hide, clear, forget, take_part])
async def test_the_visible_part_of_a_cancelled_reply_is_removed(
    tmp_path: Path, cause: Callable[[TheatreHarness, Scene, int], Awaitable[None]]
) -> None:
    slow = Scripted(reply("Mr Bennet", says="word " * 400), chunk=60, pause=0.01)
    async with open_harness(tmp_path, slow) as harness:
        scene, message = await generating(harness, "Mr Bennet")
        await until(lambda: bool(harness.delivery.progressed))
        owed = (await harness.store.find_owed_turns(scene.id))[0]
        await cause(harness, scene, message)
        await until(lambda: harness.engine.running == 0, within=1.0)
        await until(lambda: harness.delivery.withdrawn == [owed.id])
        assert harness.delivery.shown == []


async def test_a_reply_that_also_answers_another_line_still_comes(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene, message = await generating(harness, "Mr Bennet")
        await harness.say(scene, "Papa!", "Mr Bennet", author=BOB, name="Bob")
        await delete(harness, scene, message)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert harness.delivery.shown == [("Mr Bennet", "smiles You refuse him?")]
        assert "Well?" not in harness.engine.requests[-1].prompt.text


async def test_if_one_author_is_forgotten_the_other_is_still_answered(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene, message = await generating(harness, "Mr Bennet")
        await harness.say(scene, "Papa!", "Mr Bennet", author=BOB, name="Bob")
        await forget(harness, scene, message)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        assert harness.delivery.shown == [("Mr Bennet", "smiles You refuse him?")]
        assert "Well?" not in harness.engine.requests[-1].prompt.text


async def test_a_retry_of_a_reply_whose_line_is_deleted_keeps_the_earlier_take(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene, message = await asked(harness)
        await harness.wait_until_idle(scene)
        turn = (await harness.theatre.queries.read_history(scene))[-1]
        harness.engine.gate.clear()
        await harness.takes.retake(turn.id, GM)
        await until(lambda: harness.engine.running == 1)
        await delete(harness, scene, message)
        await until(lambda: harness.engine.running == 0, within=1.0)
        after = await harness.store.turn(turn.id)
        assert after
        assert (after.state, after.take) == (TurnState.DONE, turn.take)


async def test_a_reply_whose_line_is_deleted_while_it_is_posted_is_removed(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        deliver = harness.delivery.deliver
        posting = asyncio.Event()
        posted = asyncio.Event()

        async def deliver_slowly(scene: Scene, turn: Turn, take: Take) -> None:
            posting.set()
            await posted.wait()
            await deliver(scene, turn, take)

        harness.delivery.deliver = deliver_slowly  # type: ignore[method-assign, assignment]
        scene, message = await asked(harness)
        await posting.wait()
        owed = (await harness.store.find_owed_turns(scene.id))[0]
        await delete(harness, scene, message)
        posted.set()
        await until(lambda: harness.delivery.withdrawn == [owed.id])


async def test_clear_is_final(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        message = await harness.say(scene, "MARMALADE?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        line, turn = await harness.theatre.queries.read_history(scene)
        await harness.post(turn, 5000)
        await harness.takes.retake(turn.id, GM)
        await harness.wait_until_idle(scene)
        await harness.undo.rewind(line.id, GM)
        await harness.theatre.controls.clear(scene, GM)
        for attempt in (
            harness.undo.unhide(scene.id, None, GM),
            harness.undo.hide(turn.id, GM),
            harness.undo.rewind(line.id, GM),
            harness.takes.retake(turn.id, GM),
            harness.takes.retake(turn.id, GM, lengthen=True),
            harness.takes.retry(turn.id, GM),
            harness.takes.step(turn.id, GM, -1),
            harness.takes.read_text(turn.id, GM),
            harness.branching.require_root(turn.id, GM),
        ):
            with pytest.raises(Exception, match=r"story|back|finished|failed"):
                await attempt
        await harness.edit(scene, message, "MARMALADE!")
        assert await harness.read_story(scene) == []
    async with open_harness(tmp_path, BENNET) as harness:
        harness.ids = count(2000)
        harness.theatre.play_owed()
        scene = harness.theatre.require_scene(10)
        await harness.takes.align_all()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert "MARMALADE" not in harness.engine.requests[-1].prompt.text
        for name in ("Mr Bennet", "Mrs Bennet"):
            assert "MARMALADE" not in await harness.theatre.queries.read_prompt(scene, name, GM)


async def test_a_failed_reply_is_not_tried_again_after_a_clear(tmp_path: Path) -> None:
    async with open_harness(tmp_path, "Never out of thought") as harness:
        scene = await harness.start()
        await harness.say(scene, "MARMALADE?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        (_, failed) = await harness.store.turns(scene.id)
        assert failed.state is TurnState.FAILED
        await harness.theatre.controls.clear(scene, GM)
        with pytest.raises(Exception, match="failed"):
            await harness.takes.retry(failed.id, GM)


@pytest.mark.parametrize("change", ["retry", "continue", "edit", "arrows"])
async def test_a_turn_keeps_its_audience(tmp_path: Path, change: str) -> None:
    more = " And never speak of it."
    async with open_harness(tmp_path, BENNET, BENNET, more if change == "continue" else BENNET) as (
        harness
    ):
        actions = GmActions(harness.theatre, harness.store)
        scene = await harness.start()
        await actions.leave_stage(scene, "Elizabeth", GM)
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        turn = (await harness.theatre.queries.read_history(scene))[-1]
        await harness.takes.retake(turn.id, GM)
        await harness.wait_until_idle(scene)
        harness.engine.gate.clear()
        if change in ("retry", "continue"):
            await harness.takes.retake(turn.id, GM, lengthen=change == "continue")
        await actions.enter_stage(scene, "Elizabeth", GM)
        await actions.leave_stage(scene, "Mrs Bennet", GM)
        if change == "edit":
            take, _ = await harness.takes.read_text(turn.id, GM)
            await harness.takes.rewrite(turn.id, take.id, "Never.", GM)
        if change == "arrows":
            await harness.takes.step(turn.id, GM, -1)
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        after = await harness.store.turn(turn.id)
        assert after
        assert after.heard_by == frozenset({"Mr Bennet", "Mrs Bennet"})
        assert after.take != turn.take or change == "arrows"


async def test_a_failed_reply_is_heard_by_the_characters_on_stage_when_it_comes(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, "lost in thought", "lost in thought", BENNET) as harness:
        actions = GmActions(harness.theatre, harness.store)
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        failed = (await harness.store.turns(scene.id))[-1]
        await actions.leave_stage(scene, "Elizabeth", GM)
        await harness.takes.retry(failed.id, GM)
        await harness.wait_until_idle(scene)
        after = await harness.store.turn(failed.id)
        assert after
        assert after.heard_by == frozenset({"Mr Bennet", "Mrs Bennet"})
