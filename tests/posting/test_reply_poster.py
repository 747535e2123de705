"""What everyone sees when a reply is delivered, and when one fails."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.errors import MissingPermission, PostingError
from bot.her.beats import action, planning, thought
from bot.posting.buttons import TRY_AGAIN_ID
from bot.scenes.reveal import Destination, RevealPolicy
from tests.loopback.entities import ChannelKind

if TYPE_CHECKING:
    from tests.posting.conftest import House


async def test_a_reply_is_posted_under_the_characters_name_and_face(house: House) -> None:
    house.portraits.faces["Mr Bennet"] = "https://a.example/bennet.png"
    await house.stage.deliver(
        house.scene(), house.turn(), house.take(action("looks up"), "You sent for me?")
    )
    (post,) = house.room.messages
    assert (post.name, post.content) == ("Mr Bennet", "*looks up* You sent for me?")
    assert post.avatar_url == "https://a.example/bennet.png"
    assert post.webhook


async def test_thoughts_go_to_the_game_master_and_nowhere_else(house: House) -> None:
    someone = house.discord.person("Wickham", house.guild)
    beats = (planning("Keep it dry."), thought("At last."), action("smiles"))
    await house.stage.deliver(house.scene(), house.turn(), house.take(*beats, "Sit."))
    (message,) = house.thoughts
    (embed,) = message.now.embeds
    assert embed["description"] == "📝 Keep it dry.\n\n💭 At last."
    assert embed["author"]["name"] == "Mr Bennet"
    assert embed["author"]["url"].endswith(
        f"{house.guild.id}/{house.room.id}/{house.room.messages[0].id}"
    )
    assert not [text for text in someone.ever_saw() if "At last" in text or "dry" in text]


async def test_public_thoughts_stand_in_the_channel_under_spoilers_and_the_game_master_gets_none(
    house: House,
) -> None:
    reveal = RevealPolicy(thoughts=Destination.SPOILER, planning=Destination.OFF)
    take = house.take(planning("Keep it dry."), thought("At last."), "Sit.")
    await house.stage.deliver(house.scene(reveal=reveal), house.turn(), take)
    assert house.told() == [("Mr Bennet", "💭 ||At last.||\nSit.")]
    assert house.thoughts == []


async def test_long_public_planning_is_a_covered_file(house: House) -> None:
    take = house.take(planning("He must seem calm. " * 300), "Sit.")
    await house.stage.deliver(
        house.scene(reveal=RevealPolicy(planning=Destination.SPOILER)), house.turn(), take
    )
    (post,) = house.room.messages
    (attachment,) = post.now.attachments
    assert attachment["filename"] == "SPOILER_planning.txt"
    assert house.discord.world.files[int(attachment["id"])].startswith(b"He must seem calm.")


async def test_every_game_master_is_written_to(house: House) -> None:
    other = house.discord.person("Charlotte", house.guild)
    scene = house.scene(gms=(house.gm, other))
    await house.stage.deliver(scene, house.turn(), house.take(thought("At last."), "Sit."))
    assert len(house.thoughts) == len(other.dms) == 1


async def test_a_long_reply_is_several_posts_in_order(house: House) -> None:
    await house.stage.deliver(
        house.scene(), house.turn(), house.take("I have not the pleasure. " * 200)
    )
    assert len(house.room.messages) == 3
    assert " ".join(text for _, text in house.told()) == ("I have not the pleasure. " * 200).strip()


async def test_nobody_is_pinged(house: House) -> None:
    scene = house.scene()
    text = f"@everyone <@{house.gm.id}> <@&{house.guild.id}> @here"
    await house.stage.open(scene)
    await house.stage.deliver(scene, house.turn(), house.take(text, thought(text), action(text)))
    await house.stage.fail(scene, house.turn(), text)
    await house.stage.tell(scene, text)
    for message in (*house.room.messages, *house.thoughts):
        assert not message.pings
        assert [message.mentions, message.mention_everyone, message.mention_roles] == [
            [],
            False,
            [],
        ]


async def test_a_name_that_discord_refuses_is_posted_all_the_same(house: House) -> None:
    for character in ("Clyde", "everyone"):
        await house.stage.deliver(house.scene(), house.turn(by=character), house.take("Good day."))
    assert [name for name, _ in house.told()] == ["C\u200alyde", "everyone"]


async def test_a_scene_in_a_thread_is_heard_there_through_its_parents_webhook(house: House) -> None:
    thread = house.thread()
    await house.stage.deliver(house.scene(thread), house.turn(), house.take("In here."))
    assert house.told(thread) == [("Mr Bennet", "In here.")]
    assert not [message for message in house.room.messages if message.webhook]


async def test_a_scene_in_a_forum_post_is_heard_there(house: House) -> None:
    forum = house.discord.world.channel(house.guild, "plays", ChannelKind.FORUM)
    post = house.gm.start_thread(forum, "Act one")
    await house.stage.open(house.scene(post))
    await house.stage.deliver(house.scene(post), house.turn(), house.take("In here."))
    assert house.told(post)[-1] == ("Mr Bennet", "In here.")


async def test_an_archived_thread_is_woken_for_a_reply_and_for_a_change_of_it(house: House) -> None:
    thread, turn = house.thread(), house.turn()
    own = next(role for role in house.guild.roles.values() if role.managed_by)
    house.discord.world.overwrite(house.room, own, allow="manage_threads")
    assert thread.thread
    thread.thread.archived = True
    await house.stage.deliver(house.scene(thread), turn, house.take("In here."))
    thread.thread.archived = True
    await house.stage.deliver(house.scene(thread), turn, house.take("Out there."))
    assert house.told(thread) == [("Mr Bennet", "Out there.")]
    assert not thread.thread.archived


async def test_an_archived_thread_that_may_not_be_woken_is_called_so(house: House) -> None:
    thread, turn = house.thread(), house.turn()
    assert thread.thread
    await house.stage.deliver(house.scene(thread), turn, house.take("In here."))
    thread.thread.archived = thread.thread.locked = True
    with pytest.raises(
        MissingPermission, match="in #Act one, which is archived: allow me Manage Threads there"
    ):
        await house.stage.deliver(house.scene(thread), turn, house.take("Out there."))


async def test_a_locked_thread_is_called_so(house: House) -> None:
    thread = house.thread()
    assert thread.thread
    thread.thread.locked = True
    with pytest.raises(PostingError, match="I could not post in #Act one: the thread is locked"):
        await house.stage.tell(house.scene(thread), "Hello?")


async def test_typing_is_shown_while_somebody_thinks_and_ends_with_it(house: House) -> None:
    async with house.stage.thinking(house.scene(), house.turn()):
        await house.discord.until(lambda: house.discord.world.typing)
    assert house.discord.world.typing == [(house.discord.bot, house.room)]
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("typing")]


async def test_typing_that_is_refused_stops_nothing(house: House) -> None:
    house.discord.faults.refuse("start_typing", 50013)
    async with house.stage.thinking(house.scene(), house.turn()):
        await house.discord.until(lambda: house.discord.asked("start_typing"))
    await house.stage.deliver(house.scene(), house.turn(), house.take("Here."))
    assert house.told() == [("Mr Bennet", "Here.")]


async def test_a_failed_reply_is_said_with_a_button_that_names_the_turn(house: House) -> None:
    turn = house.turn()
    await house.stage.fail(house.scene(), turn, "The model_s lost. Try again.")
    (post,) = house.room.messages
    assert post.content == "⚠️ The model\\_s lost. Try again."
    assert post.labels == ["Try again"]
    assert not post.webhook
    (button,) = post.now.components[0]["components"]
    assert button["custom_id"] == f"aside:retry:{turn.id}"
    assert TRY_AGAIN_ID.startswith("aside:retry:")


async def test_what_was_said_of_a_failure_goes_when_the_reply_comes(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    await house.stage.fail(scene, turn, "Lost.")
    await house.stage.fail(scene, turn, "Lost again.")
    assert [text for _, text in house.told()] == ["⚠️ Lost again."]
    await house.stage.deliver(scene, turn, house.take("Here."))
    assert house.told() == [("Mr Bennet", "Here.")]


async def test_a_failure_notice_that_somebody_deleted_stops_nothing(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    await house.stage.fail(scene, turn, "Lost.")
    house.room.messages[0].deleted = True
    await house.stage.deliver(scene, turn, house.take("Here."))
    assert house.told() == [("Mr Bennet", "Here.")]


async def test_what_aside_says_itself_is_small_print(house: House) -> None:
    await house.stage.tell(house.scene(), "The oldest turns left.")
    assert [text for _, text in house.told()] == ["-# The oldest turns left."]


async def test_a_reply_of_nothing_is_a_fault_and_no_silence(house: House) -> None:
    with pytest.raises(PostingError, match="Mr Bennet said and did nothing"):
        await house.stage.deliver(house.scene(), house.turn(), house.take(" "))


async def test_where_the_bot_may_not_write_it_is_said_which_permission_is_missing_and_where(
    house: House,
) -> None:
    house.discord.world.overwrite(house.room, house.guild.everyone, deny="send_messages")
    own = next(role for role in house.guild.roles.values() if role.managed_by)
    house.discord.world.overwrite(house.room, own, deny="send_messages")
    with pytest.raises(MissingPermission, match="in #study: allow me Send Messages there"):
        await house.stage.tell(house.scene(), "Hello?")


async def test_a_channel_that_is_gone_is_called_so(house: House) -> None:
    scene = house.scene()
    house.discord.world.delete_channel(house.room)
    await house.discord.until(lambda: house.client.get_channel(house.room.id) is None)
    with pytest.raises(PostingError, match="it is gone"):
        await house.stage.deliver(scene, house.turn(), house.take("Hello?"))


async def test_a_server_that_stumbles_is_called_so(house: House) -> None:
    house.discord.faults.fail("create_message", 503)
    with pytest.raises(PostingError, match="Discord did not answer as it should"):
        await house.stage.tell(house.scene(), "Hello?")
