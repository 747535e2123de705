"""Direct messages to game masters, open and closed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discord import TextChannel

from bot.her.beats import planning, thought
from bot.scenes.turn import TurnKind
from tests.posting.conftest import description

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from tests.posting.conftest import PostingSetup


async def test_only_the_game_master_learns_that_their_direct_messages_are_closed(
    setup: PostingSetup,
) -> None:
    setup.gm.user.dms_open = False
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Hm."), "Sit."))
    assert setup.read() == [("Mr Bennet", "Sit.")]
    sentence = setup.delivery.pop_undelivered(setup.gm.id)
    assert sentence
    assert "Your direct messages are closed to me" in sentence
    assert "Show thoughts" in sentence
    assert setup.delivery.pop_undelivered(setup.gm.id) is None
    assert not [text for text in setup.gm.ever_saw() if "Hm." in text]


async def test_an_unreachable_game_master_is_reported_at_once(
    setup: PostingSetup,
) -> None:
    asked: list[int] = []

    async def notify_unreached(_scene: Scene, gm_id: int) -> None:
        asked.append(gm_id)

    setup.gm.user.dms_open = False
    other = setup.discord.person("Charlotte", setup.guild)
    stage = setup.create_delivery(notify_unreachable=notify_unreached)
    scene = setup.scene(gms=(setup.gm, other))
    await stage.deliver(scene, setup.turn(), setup.take(thought("Hm."), "Sit."))
    assert asked == [setup.gm.id]
    assert len(other.dms) == 1


async def test_thoughts_arrive_again_once_direct_messages_are_open(
    setup: PostingSetup,
) -> None:
    setup.gm.user.dms_open = False
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Hm."), "Sit."))
    setup.gm.user.dms_open = True
    setup.delivery.retry_direct_messages(setup.gm.id)
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Ha."), "Stand."))
    assert [description(message) for message in setup.thoughts] == ["💭 Ha."]
    assert setup.delivery.pop_undelivered(setup.gm.id) is None


async def test_undelivered_thoughts_arrive_with_the_next_delivery_of_the_turn(
    setup: PostingSetup,
) -> None:
    turn = setup.turn()
    take = setup.take(thought("Hm."), "Sit.")
    setup.gm.user.dms_open = False
    await setup.delivery.deliver(setup.scene(), turn, take)
    setup.gm.user.dms_open = True
    setup.delivery.retry_direct_messages(setup.gm.id)
    await setup.delivery.deliver(setup.scene(), turn, take)
    assert [description(message) for message in setup.thoughts] == ["💭 Hm."]
    assert len(setup.channel.messages) == 1


async def test_a_game_master_who_left_the_server_gets_no_thoughts_and_is_reported(
    setup: PostingSetup,
) -> None:
    departed: list[int] = []

    async def notify_departed(_scene: Scene, user_id: int) -> None:
        departed.append(user_id)

    delivery = setup.create_delivery(notify_departed=notify_departed)
    setup.discord.world.leave(setup.guild, setup.gm.user)
    await delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Hm."), "Sit."))
    assert setup.read() == [("Mr Bennet", "Sit.")]
    assert departed == [setup.gm.id]
    assert not setup.discord.requests_to("open_dm")


async def test_a_game_master_who_lost_the_channel_gets_no_thoughts(setup: PostingSetup) -> None:
    setup.discord.world.overwrite(setup.channel, setup.gm.user, deny="view_channel")
    channel = setup.client.get_channel(setup.channel.id)
    assert isinstance(channel, TextChannel)
    await setup.discord.until(lambda: len(channel.overwrites) == 1)
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Hm."), "Sit."))
    assert setup.thoughts == []


async def test_a_game_master_who_left_a_private_thread_gets_no_thoughts(
    setup: PostingSetup,
) -> None:
    thread = setup.gm.start_thread(setup.channel, "Behind closed doors", private=True)
    assert thread.thread
    thread.thread.members.add(setup.discord.bot.id)
    setup.discord.world.thread_members_changed(thread, added=setup.discord.bot)
    take = setup.take(thought("Hm."), "Sit.")
    await setup.delivery.deliver(setup.scene(thread), setup.turn(), take)
    assert len(setup.thoughts) == 1
    thread.thread.members.discard(setup.gm.id)
    take = setup.take(thought("Ha."), "Stand.")
    await setup.delivery.deliver(setup.scene(thread), setup.turn(), take)
    assert len(setup.thoughts) == 1


async def test_thoughts_are_kept_back_if_membership_cannot_be_checked(
    setup: PostingSetup,
) -> None:
    setup.discord.faults.fail("get_member", 503)
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Hm."), "Sit."))
    assert setup.thoughts == []
    assert setup.delivery.pop_undelivered(setup.gm.id)


async def test_another_error_is_not_reported_as_closed_direct_messages(setup: PostingSetup) -> None:
    setup.discord.faults.refuse("open_dm", 40003)
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Hm."), "Sit."))
    sentence = setup.delivery.pop_undelivered(setup.gm.id)
    assert sentence
    assert "I will try again" in sentence


async def test_long_planning_is_split_into_several_direct_messages(setup: PostingSetup) -> None:
    plan = "He must seem calm. " * 600
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(planning(plan), "Sit."))
    texts = [description(message) for message in setup.thoughts]
    assert len(texts) == 3
    assert " ".join(texts).removeprefix("📝 ") == plan.strip()


async def test_greet_returns_whether_the_message_arrived(setup: PostingSetup) -> None:
    assert await setup.delivery.greet(setup.scene(), setup.gm.id)
    (message,) = setup.thoughts
    assert "You direct **The Study**" in message.content
    setup.gm.user.dms_open = False
    assert not await setup.delivery.greet(setup.scene(), setup.gm.id)
    assert setup.delivery.pop_undelivered(setup.gm.id)


async def test_closed_direct_messages_are_tried_once_and_reported_once(
    setup: PostingSetup,
) -> None:
    reported: list[int] = []

    async def notify_unreachable(_scene: Scene, gm_id: int) -> None:
        reported.append(gm_id)

    setup.gm.user.dms_open = False
    delivery = setup.create_delivery(notify_unreachable=notify_unreachable)
    for _ in range(6):
        take = setup.take(thought("Hm."), "Sit.")
        await delivery.deliver(setup.scene(), setup.turn(), take)
    assert reported == [setup.gm.id]
    assert len(setup.discord.requests_to("open_dm")) == 1
    assert delivery.pop_undelivered(setup.gm.id)
    assert delivery.pop_undelivered(setup.gm.id) is None


async def test_a_retry_that_fails_for_the_same_reason_is_not_reported_again(
    setup: PostingSetup,
) -> None:
    setup.gm.user.dms_open = False
    for _ in range(3):
        take = setup.take(thought("Hm."), "Sit.")
        await setup.delivery.deliver(setup.scene(), setup.turn(), take)
        setup.delivery.retry_direct_messages(setup.gm.id)
    assert setup.delivery.pop_undelivered(setup.gm.id)
    take = setup.take(thought("Hm."), "Sit.")
    await setup.delivery.deliver(setup.scene(), setup.turn(), take)
    assert setup.delivery.pop_undelivered(setup.gm.id) is None


async def test_direct_messages_that_close_again_are_reported_again(setup: PostingSetup) -> None:
    for is_open in (False, True, False):
        setup.gm.user.dms_open = is_open
        setup.delivery.retry_direct_messages(setup.gm.id)
        take = setup.take(thought("Hm."), "Sit.")
        await setup.delivery.deliver(setup.scene(), setup.turn(), take)
        assert (setup.delivery.pop_undelivered(setup.gm.id) is None) is is_open


async def test_no_game_master_is_reported_as_gone_because_the_bot_left_the_server(
    setup: PostingSetup,
) -> None:
    departed: list[int] = []

    async def notify_departed(_scene: Scene, user_id: int) -> None:
        departed.append(user_id)

    delivery = setup.create_delivery(notify_departed=notify_departed)
    scene = setup.scene()
    setup.discord.world.leave(setup.guild, setup.discord.bot)
    await setup.discord.until(lambda: setup.client.get_guild(setup.guild.id) is None)
    turn = replace(setup.turn(kind=TurnKind.WHISPER), heard_by=frozenset({"Mr Bennet"}))
    await delivery.deliver(scene, turn, setup.take("Psst."))
    assert departed == []
    assert setup.thoughts == []
