"""Game masters' direct messages, open and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import planning, thought
from tests.posting.conftest import description

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from tests.posting.conftest import PostingSetup


async def test_closed_messages_are_told_to_nobody_but_the_one_they_concern(
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


async def test_whoever_may_still_reach_the_game_master_is_asked_at_once(
    setup: PostingSetup,
) -> None:
    asked: list[int] = []

    async def unreached(_scene: Scene, gm_id: int) -> None:
        asked.append(gm_id)

    setup.gm.user.dms_open = False
    other = setup.discord.person("Charlotte", setup.guild)
    stage = setup.create_delivery(notify_unreachable=unreached)
    scene = setup.scene(gms=(setup.gm, other))
    await stage.deliver(scene, setup.turn(), setup.take(thought("Hm."), "Sit."))
    assert asked == [setup.gm.id]
    assert len(other.dms) == 1


async def test_messages_opened_again_are_used_and_nothing_is_said_any_more(
    setup: PostingSetup,
) -> None:
    setup.gm.user.dms_open = False
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Hm."), "Sit."))
    setup.gm.user.dms_open = True
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Ha."), "Stand."))
    assert [description(message) for message in setup.thoughts] == ["💭 Ha."]
    assert setup.delivery.pop_undelivered(setup.gm.id) is None


async def test_what_was_not_delivered_comes_with_the_next_attempt(setup: PostingSetup) -> None:
    turn, take = setup.turn(), setup.take(thought("Hm."), "Sit.")
    setup.gm.user.dms_open = False
    await setup.delivery.deliver(setup.scene(), turn, take)
    setup.gm.user.dms_open = True
    await setup.delivery.deliver(setup.scene(), turn, take)
    assert [description(message) for message in setup.thoughts] == ["💭 Hm."]
    assert len(setup.channel.messages) == 1


async def test_a_game_master_who_left_every_shared_server_stops_nothing(
    setup: PostingSetup,
) -> None:
    setup.discord.world.leave(setup.guild, setup.gm.user)
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Hm."), "Sit."))
    assert setup.read() == [("Mr Bennet", "Sit.")]
    assert setup.delivery.pop_undelivered(setup.gm.id)


async def test_discord_in_trouble_is_not_called_closed_messages(setup: PostingSetup) -> None:
    setup.discord.faults.refuse("open_dm", 40003)
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(thought("Hm."), "Sit."))
    sentence = setup.delivery.pop_undelivered(setup.gm.id)
    assert sentence
    assert "I will try again" in sentence


async def test_long_planning_comes_whole_in_several_messages(setup: PostingSetup) -> None:
    plan = "He must seem calm. " * 600
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(planning(plan), "Sit."))
    texts = [description(message) for message in setup.thoughts]
    assert len(texts) == 3
    assert " ".join(texts).removeprefix("📝 ") == plan.strip()


async def test_a_greeting_tells_whether_it_arrived(setup: PostingSetup) -> None:
    assert await setup.delivery.greet(setup.scene(), setup.gm.id)
    (message,) = setup.thoughts
    assert "You direct **The Study**" in message.content
    setup.gm.user.dms_open = False
    assert not await setup.delivery.greet(setup.scene(), setup.gm.id)
    assert setup.delivery.pop_undelivered(setup.gm.id)
