"""Game masters' direct messages, open and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import planning, thought
from bot.posting.reply_poster import ReplyPoster
from tests.posting.conftest import description

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from tests.posting.conftest import House


async def test_closed_messages_are_told_to_nobody_but_the_one_they_concern(house: House) -> None:
    house.gm.user.dms_open = False
    await house.stage.deliver(house.scene(), house.turn(), house.take(thought("Hm."), "Sit."))
    assert house.told() == [("Mr Bennet", "Sit.")]
    sentence = house.stage.undelivered(house.gm.id)
    assert sentence
    assert "your direct messages are closed to me" in sentence
    assert "Show thoughts" in sentence
    assert house.stage.undelivered(house.gm.id) is None
    assert not [text for text in house.gm.ever_saw() if "Hm." in text]


async def test_whoever_may_still_reach_the_game_master_is_asked_at_once(house: House) -> None:
    asked: list[int] = []

    async def unreached(_scene: Scene, gm_id: int) -> None:
        asked.append(gm_id)

    house.gm.user.dms_open = False
    other = house.discord.person("Charlotte", house.guild)
    stage = ReplyPoster(house.client, house.posts, house.portraits, unreached=unreached)
    scene = house.scene(gms=(house.gm, other))
    await stage.deliver(scene, house.turn(), house.take(thought("Hm."), "Sit."))
    assert asked == [house.gm.id]
    assert len(other.dms) == 1


async def test_messages_opened_again_are_used_and_nothing_is_said_any_more(house: House) -> None:
    house.gm.user.dms_open = False
    await house.stage.deliver(house.scene(), house.turn(), house.take(thought("Hm."), "Sit."))
    house.gm.user.dms_open = True
    await house.stage.deliver(house.scene(), house.turn(), house.take(thought("Ha."), "Stand."))
    assert [description(message) for message in house.thoughts] == ["💭 Ha."]
    assert house.stage.undelivered(house.gm.id) is None


async def test_what_was_not_delivered_comes_with_the_next_attempt(house: House) -> None:
    turn, take = house.turn(), house.take(thought("Hm."), "Sit.")
    house.gm.user.dms_open = False
    await house.stage.deliver(house.scene(), turn, take)
    house.gm.user.dms_open = True
    await house.stage.deliver(house.scene(), turn, take)
    assert [description(message) for message in house.thoughts] == ["💭 Hm."]
    assert len(house.room.messages) == 1


async def test_a_game_master_who_left_every_shared_server_stops_nothing(house: House) -> None:
    house.discord.world.leave(house.guild, house.gm.user)
    await house.stage.deliver(house.scene(), house.turn(), house.take(thought("Hm."), "Sit."))
    assert house.told() == [("Mr Bennet", "Sit.")]
    assert house.stage.undelivered(house.gm.id)


async def test_discord_in_trouble_is_not_called_closed_messages(house: House) -> None:
    house.discord.faults.refuse("open_dm", 40003)
    await house.stage.deliver(house.scene(), house.turn(), house.take(thought("Hm."), "Sit."))
    sentence = house.stage.undelivered(house.gm.id)
    assert sentence
    assert "I will try again" in sentence


async def test_long_planning_comes_whole_in_several_messages(house: House) -> None:
    plan = "He must seem calm. " * 600
    await house.stage.deliver(house.scene(), house.turn(), house.take(planning(plan), "Sit."))
    texts = [description(message) for message in house.thoughts]
    assert len(texts) == 3
    assert " ".join(texts).removeprefix("📝 ") == plan.strip()


async def test_a_greeting_tells_whether_it_arrived(house: House) -> None:
    assert await house.stage.greet(house.scene(), house.gm.id)
    (message,) = house.thoughts
    assert "You direct **The Study**" in message.content
    house.gm.user.dms_open = False
    assert not await house.stage.greet(house.scene(), house.gm.id)
    assert house.stage.undelivered(house.gm.id)
