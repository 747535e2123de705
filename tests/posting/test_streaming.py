"""Replies that are shown while they are written: what everyone sees meanwhile, and that the end is the same."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from bot.her.beats import action, planning, select_public, speech, thought
from bot.posting.reply_draft import CURSOR
from bot.posting.reply_poster import ReplyPoster
from bot.scenes.reveal import Destination, RevealPolicy
from bot.scenes.turn import TurnState

if TYPE_CHECKING:
    from bot.her.beats import Beat, PublicBeat
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.posting.conftest import House

LONG = "I have not the pleasure of understanding you. " * 100
WELL = (action("smiles"), speech("Well, well."))


async def told(house: House, scene: Scene, turn: Turn, *steps: tuple[PublicBeat, ...]) -> None:
    """Tell the stage how far a reply has come, each step once the one before is seen."""
    for beats in steps:
        await house.stage.progress(scene, turn, beats)
        await house.discord.until(lambda: not streaming())


def streaming() -> list[str]:
    """What is being shown at this moment."""
    return [
        task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("streaming")
    ]


def states(house: House) -> list[str]:
    """Every text that the only post ever had."""
    (post,) = house.room.messages
    return [state.content for state in post.states]


async def test_a_post_appears_with_the_first_words_and_grows(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (), (action("smi"),), (action("smiles"), speech("Well")))
    await house.stage.deliver(scene, turn, house.take(*WELL))
    assert states(house) == [f"*smi*{CURSOR}", f"*smiles* Well{CURSOR}", "*smiles* Well, well."]
    (row,) = await house.posts.posts(turn.id)
    assert row.take_id is not None


async def test_nothing_is_posted_while_nothing_is_public(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (), (speech("  "),), (speech("\u200b"),))
    assert house.room.messages == []


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
    house: House, beats: tuple[Beat, ...], where: Destination
) -> None:
    scene = house.scene(reveal=RevealPolicy(thoughts=where, planning=where))
    plain, streamed = house.turn(), house.turn()
    await house.stage.deliver(scene, plain, house.take(*beats))
    before = [(message.content, len(message.now.attachments)) for message in house.room.messages]
    seen = len(before)
    async with house.stage.thinking(scene, streamed):
        heard = select_public(beats)
        for count in range(len(heard)):
            half = heard[count].text[: len(heard[count].text) // 2]
            await told(
                house,
                scene,
                streamed,
                (*heard[:count], type(heard[count])(heard[count].kind, half)),
            )
            await told(house, scene, streamed, heard[: count + 1])
        for message in house.room.messages[seen:]:
            assert not any("Lizzy" in text or "dry" in text for text in message.ever())
    await house.stage.deliver(scene, streamed, house.take(*beats))
    after = [
        (message.content, len(message.now.attachments)) for message in house.room.messages[seen:]
    ]
    assert after == before
    assert CURSOR not in "".join(text for text, _ in after)


async def test_over_2000_characters_it_goes_on_in_another_post(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    async with house.stage.thinking(scene, turn):
        for length in range(500, len(LONG), 500):
            await told(house, scene, turn, (speech(LONG[:length]),))
        first, *_, last = house.room.messages
        assert CURSOR not in first.content
        assert last.content.endswith(CURSOR)
    await house.stage.deliver(scene, turn, house.take(LONG))
    assert " ".join(text for _, text in house.told()) == LONG.strip()


async def test_what_settles_while_a_request_is_under_way_goes_with_the_next(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    under_way = 0.1
    house.discord.faults.slow("execute_webhook", under_way)
    house.discord.faults.slow("edit_webhook_message", under_way, times=1000)
    began = time.monotonic()
    async with house.stage.thinking(scene, turn):
        for length in range(1, 60):
            await house.stage.progress(scene, turn, (speech(LONG[:length]),))
            await asyncio.sleep(0.01)
    asked = len(house.discord.asked("execute_webhook")) + len(
        house.discord.asked("edit_webhook_message")
    )
    assert 2 <= asked <= (time.monotonic() - began) / under_way + 1


async def test_switched_off_it_shows_whole_replies_only(house: House) -> None:
    stage, scene, turn = (
        ReplyPoster(house.client, house.posts, house.portraits, streaming=False),
        *_two(house),
    )
    async with stage.thinking(scene, turn):
        await stage.progress(scene, turn, WELL)
    await stage.deliver(scene, turn, house.take(*WELL))
    assert states(house) == ["*smiles* Well, well."]


def _two(house: House) -> tuple[Scene, Turn]:
    return house.scene(), house.turn()


async def test_a_reply_begun_anew_changes_its_posts_and_never_doubles(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech(LONG),), (), (speech("Sit."),))
        assert house.told() == [("Mr Bennet", f"Sit.{CURSOR}")]
    await house.stage.deliver(scene, turn, house.take("Sit down."))
    assert house.told() == [("Mr Bennet", "Sit down.")]


async def test_half_a_reply_goes_when_the_reply_fails(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech(LONG),))
    await house.stage.fail(scene, turn, "Lost.")
    assert [text for _, text in house.told()] == ["⚠️ Lost."]
    await house.stage.deliver(scene, turn, house.take("Here."))
    assert [text for _, text in house.told()] == ["Here."]


async def test_half_a_reply_goes_when_nobody_waits_for_it_any_more(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech(LONG),))
    await house.stage.withdraw(scene, turn)
    assert house.room.messages == []
    assert await house.posts.posts(turn.id) == []


async def test_after_a_crash_the_post_that_was_begun_is_the_one_that_is_finished(
    house: House,
) -> None:
    scene, turn = house.scene(), house.turn()
    thinking = asyncio.create_task(_told_for_ever(house, scene, turn))
    await house.discord.until(lambda: len(house.room.messages) == 3)
    await house.discord.quiet()
    thinking.cancel()
    await asyncio.gather(thinking, return_exceptions=True)
    begun = list(house.room.messages)
    stage = house.restarted()
    async with stage.thinking(scene, turn):
        await stage.progress(scene, turn, (speech("Sit"),))
    await stage.deliver(scene, turn, house.take("Sit."))
    assert house.told() == [("Mr Bennet", "Sit.")]
    assert house.room.messages[0] is begun[0]


async def _told_for_ever(house: House, scene: Scene, turn: Turn) -> None:
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech(LONG),))
        await asyncio.Event().wait()


async def test_a_post_begun_just_before_a_crash_and_not_remembered_is_found_again(
    house: House,
) -> None:
    scene, turn = house.scene(), house.turn()
    house.posts.forgetful = True
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech("Sit"),))
    house.posts.forgetful = False
    assert house.told() == [("Mr Bennet", f"Sit{CURSOR}")]
    assert await house.posts.posts(turn.id) == []
    for stage in (house.restarted(), house.stage):
        await stage.deliver(scene, turn, house.take("Sit down."))
        assert house.told() == [("Mr Bennet", "Sit down.")]


async def test_a_post_not_remembered_goes_too_when_its_reply_fails(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    house.posts.forgetful = True
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech("Sit"),))
    house.posts.forgetful = False
    await house.restarted().fail(scene, turn, "Lost.")
    assert [text for _, text in house.told()] == ["⚠️ Lost."]


async def test_a_post_that_somebody_deletes_meanwhile_is_not_posted_again(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech("Sit"),))
        house.room.messages[0].deleted = True
        await told(house, scene, turn, (speech("Sit down"),), (speech("Sit down, child"),))
    assert house.room.messages == []


async def test_where_posts_are_refused_the_stream_gives_up_and_the_delivery_tells(
    house: House,
) -> None:
    scene, turn = house.scene(), house.turn()
    house.discord.faults.refuse("execute_webhook", 50013)
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech("Sit"),), (speech("Sit down"),))
    assert len(house.discord.asked("execute_webhook")) == 1
    await house.stage.deliver(scene, turn, house.take("Sit down."))
    assert house.told() == [("Mr Bennet", "Sit down.")]


async def test_a_new_take_streams_into_the_posts_of_the_old_one(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    await house.stage.deliver(scene, turn, house.take("Old. " * 500))
    first, second = house.room.messages
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech("New"),))
        assert first.content == f"New{CURSOR}"
        assert not first.labels
        assert not second.deleted
    await house.stage.deliver(scene, turn, house.take("New."))
    assert house.told() == [("Mr Bennet", "New.")]


async def test_where_no_new_take_comes_the_old_one_stands_again(house: House) -> None:
    scene, turn, old = house.scene(), house.turn(), house.take("Old. " * 500)
    await house.stage.deliver(scene, turn, old)
    before = house.told()
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech("New"),))
    await house.stage.withdraw(scene, house.turn_with(turn, old))
    assert house.told() == before
    assert house.room.messages[-1].labels[-1] == "More…"


async def test_a_covered_turn_stays_covered_where_its_new_take_breaks_off(house: House) -> None:
    scene, turn, old = house.scene(), house.turn(), house.take("Old.")
    await house.stage.deliver(scene, turn, old)
    async with house.stage.thinking(scene, turn):
        await told(house, scene, turn, (speech("New"),))
    await house.stage.withdraw(scene, house.turn_with(turn, old, TurnState.HIDDEN))
    assert house.told() == [("Mr Bennet", "-# ✂️ not part of the story\n||Old.||")]


async def test_in_a_thread_and_where_the_bot_speaks_for_characters_it_streams_too(
    house: House,
) -> None:
    for number in range(15):
        house.discord.world.webhook(house.room, f"Other {number}", house.gm.user)
    for place in (house.thread(), house.room):
        scene, turn = house.scene(place), house.turn()
        async with house.stage.thinking(scene, turn):
            await told(house, scene, turn, (speech("Sit"),), (speech("Sit down"),))
            assert house.told(place)[-1][1] == f"**Mr Bennet**\nSit down{CURSOR}"
        await house.stage.deliver(scene, turn, house.take("Sit down."))
        assert house.told(place)[-1][1] == "**Mr Bennet**\nSit down."


async def test_nothing_of_a_stream_lives_on(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    async with house.stage.thinking(scene, turn):
        await house.stage.progress(scene, turn, WELL)
    assert not streaming()
    await house.stage.progress(scene, turn, (speech("Too late."),))
    assert not streaming()
    await house.discord.quiet(0.05)
    assert not any("Too late" in text for text in house.gm.ever_saw().splitlines())
