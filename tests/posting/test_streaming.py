"""Replies that are shown while they are written: what everyone sees meanwhile, and that the end is the same."""

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


async def told(
    setup: PostingSetup, scene: Scene, turn: Turn, *steps: tuple[PublicBeat, ...]
) -> None:
    """Tell the stage how far a reply has come, each step once the one before is seen."""
    for beats in steps:
        await setup.delivery.progress(scene, turn, beats)
        await setup.discord.until(lambda: not streaming())


def streaming() -> list[str]:
    """What is being shown at this moment."""
    return [
        task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("streaming")
    ]


def states(setup: PostingSetup) -> list[str]:
    """Every text that the only post ever had."""
    (post,) = setup.channel.messages
    return [state.content for state in post.states]


async def test_a_post_appears_with_the_first_words_and_grows(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (), (action("smi"),), (action("smiles"), speech("Well")))
    await setup.delivery.deliver(scene, turn, setup.take(*WELL))
    assert states(setup) == [f"*smi*{CURSOR}", f"*smiles* Well{CURSOR}", "*smiles* Well, well."]
    (row,) = await setup.posts.posts(turn.id)
    assert row.take_id is not None


async def test_nothing_is_posted_while_nothing_is_public(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (), (speech("  "),), (speech("\u200b"),))
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
async def test_the_end_is_the_same_as_without_streaming_and_spoilers_come_only_then(
    setup: PostingSetup, beats: tuple[Beat, ...], where: Destination
) -> None:
    scene = setup.scene(reveal=RevealPolicy(thoughts=where, planning=where))
    plain, streamed = setup.turn(), setup.turn()
    await setup.delivery.deliver(scene, plain, setup.take(*beats))
    before = [(message.content, len(message.now.attachments)) for message in setup.channel.messages]
    seen = len(before)
    async with setup.delivery.thinking(scene, streamed):
        heard = select_public(beats)
        for count in range(len(heard)):
            half = heard[count].text[: len(heard[count].text) // 2]
            await told(
                setup,
                scene,
                streamed,
                (*heard[:count], type(heard[count])(heard[count].kind, half)),
            )
            await told(setup, scene, streamed, heard[: count + 1])
        for message in setup.channel.messages[seen:]:
            assert not any("Lizzy" in text or "dry" in text for text in message.ever())
    await setup.delivery.deliver(scene, streamed, setup.take(*beats))
    after = [
        (message.content, len(message.now.attachments)) for message in setup.channel.messages[seen:]
    ]
    assert after == before
    assert CURSOR not in "".join(text for text, _ in after)


async def test_over_2000_characters_it_goes_on_in_another_post(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    async with setup.delivery.thinking(scene, turn):
        for length in range(500, len(LONG), 500):
            await told(setup, scene, turn, (speech(LONG[:length]),))
        first, *_, last = setup.channel.messages
        assert CURSOR not in first.content
        assert last.content.endswith(CURSOR)
    await setup.delivery.deliver(scene, turn, setup.take(LONG))
    assert " ".join(text for _, text in setup.read()) == LONG.strip()


async def test_what_settles_while_a_request_is_under_way_goes_with_the_next(
    setup: PostingSetup,
) -> None:
    scene, turn = setup.scene(), setup.turn()
    under_way = 0.1
    setup.discord.faults.slow("execute_webhook", under_way)
    setup.discord.faults.slow("edit_webhook_message", under_way, times=1000)
    began = time.monotonic()
    async with setup.delivery.thinking(scene, turn):
        for length in range(1, 60):
            await setup.delivery.progress(scene, turn, (speech(LONG[:length]),))
            await asyncio.sleep(0.01)
    asked = len(setup.discord.asked("execute_webhook")) + len(
        setup.discord.asked("edit_webhook_message")
    )
    assert 2 <= asked <= (time.monotonic() - began) / under_way + 1


async def test_switched_off_it_shows_whole_replies_only(setup: PostingSetup) -> None:
    stage, scene, turn = (
        setup.create_delivery(streaming=False),
        *_two(setup),
    )
    async with stage.thinking(scene, turn):
        await stage.progress(scene, turn, WELL)
    await stage.deliver(scene, turn, setup.take(*WELL))
    assert states(setup) == ["*smiles* Well, well."]


def _two(setup: PostingSetup) -> tuple[Scene, Turn]:
    return setup.scene(), setup.turn()


async def test_a_reply_begun_anew_changes_its_posts_and_never_doubles(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech(LONG),), (), (speech("Sit."),))
        assert setup.read() == [("Mr Bennet", f"Sit.{CURSOR}")]
    await setup.delivery.deliver(scene, turn, setup.take("Sit down."))
    assert setup.read() == [("Mr Bennet", "Sit down.")]


async def test_half_a_reply_goes_when_the_reply_fails(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech(LONG),))
    await setup.delivery.fail(scene, turn, "Lost.")
    assert setup.texts() == ["⚠️ Lost."]
    await setup.delivery.deliver(scene, turn, setup.take("Here."))
    assert setup.texts() == ["Here."]


async def test_half_a_reply_goes_when_nobody_waits_for_it_any_more(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech(LONG),))
    await setup.delivery.withdraw(scene, turn)
    assert setup.channel.messages == []
    assert await setup.posts.posts(turn.id) == []


async def test_after_a_crash_the_post_that_was_begun_is_the_one_that_is_finished(
    setup: PostingSetup,
) -> None:
    scene, turn = setup.scene(), setup.turn()
    thinking = asyncio.create_task(_told_for_ever(setup, scene, turn))
    await setup.discord.until(lambda: len(setup.channel.messages) == 3)
    await setup.discord.quiet()
    thinking.cancel()
    await asyncio.gather(thinking, return_exceptions=True)
    begun = list(setup.channel.messages)
    stage = setup.restart()
    async with stage.thinking(scene, turn):
        await stage.progress(scene, turn, (speech("Sit"),))
    await stage.deliver(scene, turn, setup.take("Sit."))
    assert setup.read() == [("Mr Bennet", "Sit.")]
    assert setup.channel.messages[0] is begun[0]


async def _told_for_ever(setup: PostingSetup, scene: Scene, turn: Turn) -> None:
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech(LONG),))
        await asyncio.Event().wait()


async def test_a_post_begun_just_before_a_crash_and_not_remembered_is_found_again(
    setup: PostingSetup,
) -> None:
    scene, turn = setup.scene(), setup.turn()
    setup.posts.forgetful = True
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech("Sit"),))
    setup.posts.forgetful = False
    assert setup.read() == [("Mr Bennet", f"Sit{CURSOR}")]
    assert await setup.posts.posts(turn.id) == []
    for stage in (setup.restart(), setup.delivery):
        await stage.deliver(scene, turn, setup.take("Sit down."))
        assert setup.read() == [("Mr Bennet", "Sit down.")]


async def test_a_post_not_remembered_goes_too_when_its_reply_fails(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    setup.posts.forgetful = True
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech("Sit"),))
    setup.posts.forgetful = False
    await setup.restart().fail(scene, turn, "Lost.")
    assert setup.texts() == ["⚠️ Lost."]


async def test_a_post_that_somebody_deletes_meanwhile_is_not_posted_again(
    setup: PostingSetup,
) -> None:
    scene, turn = setup.scene(), setup.turn()
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech("Sit"),))
        setup.channel.messages[0].deleted = True
        await told(setup, scene, turn, (speech("Sit down"),), (speech("Sit down, child"),))
    assert setup.channel.messages == []


async def test_where_posts_are_refused_the_stream_gives_up_and_the_delivery_tells(
    setup: PostingSetup,
) -> None:
    scene, turn = setup.scene(), setup.turn()
    setup.discord.faults.refuse("execute_webhook", 50013)
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech("Sit"),), (speech("Sit down"),))
    assert len(setup.discord.asked("execute_webhook")) == 1
    await setup.delivery.deliver(scene, turn, setup.take("Sit down."))
    assert setup.read() == [("Mr Bennet", "Sit down.")]


async def test_a_new_take_streams_into_the_posts_of_the_old_one(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    await setup.delivery.deliver(scene, turn, setup.take("Old. " * 500))
    first, second = setup.channel.messages
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech("New"),))
        assert first.content == f"New{CURSOR}"
        assert not first.labels
        assert not second.deleted
    await setup.delivery.deliver(scene, turn, setup.take("New."))
    assert setup.read() == [("Mr Bennet", "New.")]


async def test_where_no_new_take_comes_the_old_one_stands_again(setup: PostingSetup) -> None:
    scene, turn, old = setup.scene(), setup.turn(), setup.take("Old. " * 500)
    await setup.delivery.deliver(scene, turn, old)
    before = setup.read()
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech("New"),))
    await setup.delivery.withdraw(scene, setup.with_take(turn, old))
    assert setup.read() == before
    assert setup.channel.messages[-1].labels[-1] == "More…"


async def test_a_covered_turn_stays_covered_where_its_new_take_breaks_off(
    setup: PostingSetup,
) -> None:
    scene, turn, old = setup.scene(), setup.turn(), setup.take("Old.")
    await setup.delivery.deliver(scene, turn, old)
    async with setup.delivery.thinking(scene, turn):
        await told(setup, scene, turn, (speech("New"),))
    await setup.delivery.withdraw(scene, setup.with_take(turn, old, TurnState.HIDDEN))
    assert setup.read() == [("Mr Bennet", "-# ✂️ not part of the story\n||Old.||")]


async def test_in_a_thread_and_where_the_bot_speaks_for_characters_it_streams_too(
    setup: PostingSetup,
) -> None:
    for number in range(15):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user)
    for place in (setup.start_thread(), setup.channel):
        scene, turn = setup.scene(place), setup.turn()
        async with setup.delivery.thinking(scene, turn):
            await told(setup, scene, turn, (speech("Sit"),), (speech("Sit down"),))
            assert setup.read(place)[-1][1] == f"**Mr Bennet**\nSit down{CURSOR}"
        await setup.delivery.deliver(scene, turn, setup.take("Sit down."))
        assert setup.read(place)[-1][1] == "**Mr Bennet**\nSit down."


async def test_nothing_of_a_stream_lives_on(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    async with setup.delivery.thinking(scene, turn):
        await setup.delivery.progress(scene, turn, WELL)
    assert not streaming()
    await setup.delivery.progress(scene, turn, (speech("Too late."),))
    assert not streaming()
    await setup.discord.quiet(0.05)
    assert not any("Too late" in text for text in setup.gm.ever_saw().splitlines())
