"""Replies that are shown while they are generated."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from bot.her.beats import action, planning, select_public, speech, thought
from bot.posting.reply_draft import CURSOR
from bot.scenes.reveal import Destination, RevealPolicy
from bot.scenes.turn import TurnState

if TYPE_CHECKING:
    from bot.her.beats import Beat, PublicBeat
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.posting.conftest import PostingSetup

LONG = "I have not the pleasure of understanding you. " * 100
WELL = (action("smiles"), speech("Well, well."))


async def show(
    setup: PostingSetup, scene: Scene, turn: Turn, *steps: tuple[PublicBeat, ...]
) -> None:
    """Pass on the beats of a growing reply, each step after the one before is shown."""
    for beats in steps:
        await setup.delivery.progress(scene, turn, beats)
        await setup.discord.until(lambda: not running_streams())


def running_streams() -> list[str]:
    """Return the names of the streams that are running."""
    return [
        task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("streaming")
    ]


def all_texts(setup: PostingSetup) -> list[str]:
    """Return every text that the only post has had."""
    (post,) = setup.channel.messages
    return [state.content for state in post.states]


async def test_a_post_appears_with_the_first_words_and_grows(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (), (action("smi"),), (action("smiles"), speech("Well")))
    await setup.delivery.deliver(scene, turn, setup.take(*WELL))
    assert all_texts(setup) == [f"*smi*{CURSOR}", f"*smiles* Well{CURSOR}", "*smiles* Well, well."]
    (row,) = await setup.posts.posts(turn.id)
    assert row.take_id is not None


async def test_no_post_appears_before_the_first_public_beat(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (), (speech("  "),), (speech("\u200b"),))
    assert setup.channel.messages == []


@pytest.mark.parametrize("where", [Destination.SPOILER, Destination.GM])
@pytest.mark.parametrize(
    "beats",
    [
        (
            planning("He stays dry. " * 300),
            thought("Poor Lizzy."),
            action("smiles"),
            thought("Hm."),
            speech("Well."),
        ),
        (thought("Poor Lizzy. " * 100), speech(LONG), action("nods"), speech("And **so")),
        (speech("```\nA list\n" + "x\n" * 1500 + "```"), action("yawns")),
    ],
)
async def test_a_streamed_reply_ends_like_one_that_was_not_streamed(
    setup: PostingSetup, beats: tuple[Beat, ...], where: Destination
) -> None:
    scene = setup.scene(reveal=RevealPolicy(thoughts=where, planning=where))
    plain = setup.turn()
    streamed = setup.turn()
    await setup.delivery.deliver(scene, plain, setup.take(*beats))
    before = [(message.content, len(message.now.attachments)) for message in setup.channel.messages]
    seen = len(before)
    async with setup.delivery.show_thinking(scene, streamed):
        heard = select_public(beats)
        for count in range(len(heard)):
            half = heard[count].text[: len(heard[count].text) // 2]
            await show(
                setup,
                scene,
                streamed,
                (*heard[:count], type(heard[count])(heard[count].kind, half)),
            )
            await show(setup, scene, streamed, heard[: count + 1])
        for message in setup.channel.messages[seen:]:
            assert not any("Lizzy" in text or "dry" in text for text in message.ever())
    await setup.delivery.deliver(scene, streamed, setup.take(*beats))
    after = [
        (message.content, len(message.now.attachments)) for message in setup.channel.messages[seen:]
    ]
    assert after == before
    assert CURSOR not in "".join(text for text, _ in after)


async def test_a_streamed_reply_continues_in_another_post_after_2000_characters(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    async with setup.delivery.show_thinking(scene, turn):
        for length in range(500, len(LONG), 500):
            await show(setup, scene, turn, (speech(LONG[:length]),))
        first, *_, last = setup.channel.messages
        assert CURSOR not in first.content
        assert last.content.endswith(CURSOR)
    await setup.delivery.deliver(scene, turn, setup.take(LONG))
    assert " ".join(text for _, text in setup.read()) == LONG.strip()


async def test_beats_that_settle_during_a_request_go_into_the_next_one(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    request_time = 0.1
    setup.discord.faults.slow("execute_webhook", request_time)
    setup.discord.faults.slow("edit_webhook_message", request_time, times=1000)
    began = time.monotonic()
    async with setup.delivery.show_thinking(scene, turn):
        for length in range(1, 60):
            await setup.delivery.progress(scene, turn, (speech(LONG[:length]),))
            await asyncio.sleep(0.01)
    asked = len(setup.discord.requests_to("execute_webhook")) + len(
        setup.discord.requests_to("edit_webhook_message")
    )
    assert 2 <= asked <= (time.monotonic() - began) / request_time + 1


async def test_without_streaming_only_finished_replies_are_shown(setup: PostingSetup) -> None:
    delivery = setup.create_delivery(streaming=False)
    scene = setup.scene()
    turn = setup.turn()
    async with delivery.show_thinking(scene, turn):
        await delivery.progress(scene, turn, WELL)
    await delivery.deliver(scene, turn, setup.take(*WELL))
    assert all_texts(setup) == ["*smiles* Well, well."]


async def test_a_reply_that_starts_again_edits_its_posts(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech(LONG),), (), (speech("Sit."),))
        assert setup.read() == [("Mr Bennet", f"Sit.{CURSOR}")]
    await setup.delivery.deliver(scene, turn, setup.take("Sit down."))
    assert setup.read() == [("Mr Bennet", "Sit down.")]


async def test_an_unfinished_reply_is_deleted_when_it_fails(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech(LONG),))
    await setup.delivery.fail(scene, turn, "Lost.")
    assert setup.texts() == ["⚠️ Lost."]
    await setup.delivery.deliver(scene, turn, setup.take("Here."))
    assert setup.texts() == ["Here."]


async def test_an_unfinished_reply_is_deleted_when_it_is_withdrawn(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech(LONG),))
    await setup.delivery.withdraw(scene, turn)
    assert setup.channel.messages == []
    assert await setup.posts.posts(turn.id) == []


async def test_after_a_crash_the_unfinished_post_is_finished(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    thinking = asyncio.create_task(_show_forever(setup, scene, turn))
    await setup.discord.until(lambda: len(setup.channel.messages) == 3)
    await setup.discord.quiet()
    thinking.cancel()
    await asyncio.gather(thinking, return_exceptions=True)
    begun = list(setup.channel.messages)
    delivery = setup.restart()
    async with delivery.show_thinking(scene, turn):
        await delivery.progress(scene, turn, (speech("Sit"),))
    await delivery.deliver(scene, turn, setup.take("Sit."))
    assert setup.read() == [("Mr Bennet", "Sit.")]
    assert setup.channel.messages[0] is begun[0]


async def _show_forever(setup: PostingSetup, scene: Scene, turn: Turn) -> None:
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech(LONG),))
        await asyncio.Event().wait()


async def test_an_unfinished_post_that_was_not_stored_is_found_again(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    setup.posts.forgetful = True
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech("Sit"),))
    setup.posts.forgetful = False
    assert setup.read() == [("Mr Bennet", f"Sit{CURSOR}")]
    assert await setup.posts.posts(turn.id) == []
    for delivery in (setup.restart(), setup.delivery):
        await delivery.deliver(scene, turn, setup.take("Sit down."))
        assert setup.read() == [("Mr Bennet", "Sit down.")]


async def test_an_unfinished_post_that_was_not_stored_is_deleted_when_its_reply_fails(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    setup.posts.forgetful = True
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech("Sit"),))
    setup.posts.forgetful = False
    await setup.restart().fail(scene, turn, "Lost.")
    assert setup.texts() == ["⚠️ Lost."]


async def test_a_post_deleted_while_it_grows_is_not_posted_again(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech("Sit"),))
        setup.channel.messages[0].deleted = True
        await show(setup, scene, turn, (speech("Sit down"),), (speech("Sit down, child"),))
    assert setup.channel.messages == []


async def test_a_stream_stops_when_a_post_is_refused(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    setup.discord.faults.refuse("execute_webhook", 50013)
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech("Sit"),), (speech("Sit down"),))
    assert len(setup.discord.requests_to("execute_webhook")) == 1
    await setup.delivery.deliver(scene, turn, setup.take("Sit down."))
    assert setup.read() == [("Mr Bennet", "Sit down.")]


async def test_a_new_take_streams_into_the_posts_of_the_old_one(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    await setup.delivery.deliver(scene, turn, setup.take("Old. " * 500))
    first, second = setup.channel.messages
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech("New"),))
        assert first.content == f"New{CURSOR}"
        assert not first.labels
        assert not second.deleted
    await setup.delivery.deliver(scene, turn, setup.take("New."))
    assert setup.read() == [("Mr Bennet", "New.")]


async def test_the_old_take_is_shown_again_if_no_new_one_is_finished(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    old = setup.take("Old. " * 500)
    await setup.delivery.deliver(scene, turn, old)
    before = setup.read()
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech("New"),))
    await setup.delivery.withdraw(scene, setup.with_take(turn, old))
    assert setup.read() == before
    assert setup.channel.messages[-1].labels[-1] == "More…"


async def test_a_hidden_turn_is_covered_again_if_its_new_take_is_not_finished(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    old = setup.take("Old.")
    await setup.delivery.deliver(scene, turn, old)
    async with setup.delivery.show_thinking(scene, turn):
        await show(setup, scene, turn, (speech("New"),))
    await setup.delivery.withdraw(scene, setup.with_take(turn, old, TurnState.HIDDEN))
    assert setup.read() == [("Mr Bennet", "-# ✂️ not part of the story\n||Old.||")]


async def test_replies_stream_in_threads_and_in_the_bots_own_voice(
    setup: PostingSetup,
) -> None:
    for number in range(15):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    for place in (setup.start_thread(), setup.channel):
        scene = setup.scene(place)
        turn = setup.turn()
        async with setup.delivery.show_thinking(scene, turn):
            await show(setup, scene, turn, (speech("Sit"),), (speech("Sit down"),))
            assert setup.read(place)[-1][1] == f"**Mr Bennet**\nSit down{CURSOR}"
        await setup.delivery.deliver(scene, turn, setup.take("Sit down."))
        assert setup.read(place)[-1][1] == "**Mr Bennet**\nSit down."


async def test_a_stream_ends_with_its_context(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    async with setup.delivery.show_thinking(scene, turn):
        await setup.delivery.progress(scene, turn, WELL)
    assert not running_streams()
    await setup.delivery.progress(scene, turn, (speech("Too late."),))
    assert not running_streams()
    await setup.discord.quiet(0.05)
    assert not any("Too late" in text for text in setup.gm.ever_saw().splitlines())
