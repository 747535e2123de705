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
    from bot.scenes.interfaces import Delivery
    from tests.posting.conftest import PostingSetup


def test_the_stage_is_what_scenes_ask_for(setup: PostingSetup) -> None:
    stage: Delivery = setup.delivery
    assert stage


async def test_a_reply_is_posted_under_the_characters_name_and_face(setup: PostingSetup) -> None:
    setup.portraits.faces["Mr Bennet"] = "https://a.example/bennet.png"
    await setup.delivery.deliver(
        setup.scene(), setup.turn(), setup.take(action("looks up"), "You sent for me?")
    )
    (post,) = setup.channel.messages
    assert (post.name, post.content) == ("Mr Bennet", "*looks up* You sent for me?")
    assert post.avatar_url == "https://a.example/bennet.png"
    assert post.webhook


async def test_thoughts_go_to_the_game_master_and_nowhere_else(setup: PostingSetup) -> None:
    someone = setup.discord.person("Wickham", setup.guild)
    beats = (planning("Keep it dry."), thought("At last."), action("smiles"))
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(*beats, "Sit."))
    (message,) = setup.thoughts
    (embed,) = message.now.embeds
    assert embed["description"] == "📝 Keep it dry.\n\n💭 At last."
    assert embed["author"]["name"] == "Mr Bennet"
    assert embed["author"]["url"].endswith(
        f"{setup.guild.id}/{setup.channel.id}/{setup.channel.messages[0].id}"
    )
    assert not [text for text in someone.ever_saw() if "At last" in text or "dry" in text]


async def test_public_thoughts_stand_in_the_channel_under_spoilers_and_the_game_master_gets_none(
    setup: PostingSetup,
) -> None:
    reveal = RevealPolicy(thoughts=Destination.SPOILER, planning=Destination.OFF)
    take = setup.take(planning("Keep it dry."), thought("At last."), "Sit.")
    await setup.delivery.deliver(setup.scene(reveal=reveal), setup.turn(), take)
    assert setup.read() == [("Mr Bennet", "💭 ||At last.||\nSit.")]
    assert setup.thoughts == []


async def test_long_public_planning_is_a_covered_file(setup: PostingSetup) -> None:
    take = setup.take(planning("He must seem calm. " * 300), "Sit.")
    await setup.delivery.deliver(
        setup.scene(reveal=RevealPolicy(planning=Destination.SPOILER)), setup.turn(), take
    )
    (post,) = setup.channel.messages
    (attachment,) = post.now.attachments
    assert attachment["filename"] == "SPOILER_planning.txt"
    assert setup.discord.world.files[int(attachment["id"])].startswith(b"He must seem calm.")


async def test_every_game_master_is_written_to(setup: PostingSetup) -> None:
    other = setup.discord.person("Charlotte", setup.guild)
    scene = setup.scene(gms=(setup.gm, other))
    await setup.delivery.deliver(scene, setup.turn(), setup.take(thought("At last."), "Sit."))
    assert len(setup.thoughts) == len(other.dms) == 1


async def test_a_long_reply_is_several_posts_in_order(setup: PostingSetup) -> None:
    await setup.delivery.deliver(
        setup.scene(), setup.turn(), setup.take("I have not the pleasure. " * 200)
    )
    assert len(setup.channel.messages) == 3
    assert " ".join(text for _, text in setup.read()) == ("I have not the pleasure. " * 200).strip()


async def test_nobody_is_pinged(setup: PostingSetup) -> None:
    scene = setup.scene()
    text = f"@everyone <@{setup.gm.id}> <@&{setup.guild.id}> @here"
    await setup.delivery.open(scene)
    await setup.delivery.deliver(scene, setup.turn(), setup.take(text, thought(text), action(text)))
    await setup.delivery.fail(scene, setup.turn(), text)
    await setup.delivery.post_sentence(scene, text)
    for message in (*setup.channel.messages, *setup.thoughts):
        assert not message.pings
        assert [message.mentions, message.mention_everyone, message.mention_roles] == [
            [],
            False,
            [],
        ]


async def test_a_name_that_discord_refuses_is_posted_all_the_same(setup: PostingSetup) -> None:
    for character in ("Clyde", "everyone"):
        await setup.delivery.deliver(
            setup.scene(), setup.turn(by=character), setup.take("Good day.")
        )
    assert [name for name, _ in setup.read()] == ["C\u200alyde", "everyone"]


async def test_a_scene_in_a_thread_is_heard_there_through_its_parents_webhook(
    setup: PostingSetup,
) -> None:
    thread = setup.start_thread()
    await setup.delivery.deliver(setup.scene(thread), setup.turn(), setup.take("In here."))
    assert setup.read(thread) == [("Mr Bennet", "In here.")]
    assert not [message for message in setup.channel.messages if message.webhook]


async def test_a_scene_in_a_forum_post_is_heard_there(setup: PostingSetup) -> None:
    forum = setup.discord.world.channel(setup.guild, "plays", ChannelKind.FORUM)
    post = setup.gm.start_thread(forum, "Act one")
    await setup.delivery.open(setup.scene(post))
    await setup.delivery.deliver(setup.scene(post), setup.turn(), setup.take("In here."))
    assert setup.read(post)[-1] == ("Mr Bennet", "In here.")


async def test_an_archived_thread_is_woken_for_a_reply_and_for_a_change_of_it(
    setup: PostingSetup,
) -> None:
    thread, turn = setup.start_thread(), setup.turn()
    own = next(role for role in setup.guild.roles.values() if role.managed_by)
    setup.discord.world.overwrite(setup.channel, own, allow="manage_threads")
    assert thread.thread
    thread.thread.archived = True
    await setup.delivery.deliver(setup.scene(thread), turn, setup.take("In here."))
    thread.thread.archived = True
    await setup.delivery.deliver(setup.scene(thread), turn, setup.take("Out there."))
    assert setup.read(thread) == [("Mr Bennet", "Out there.")]
    assert not thread.thread.archived


async def test_an_archived_thread_that_may_not_be_woken_is_called_so(setup: PostingSetup) -> None:
    thread, turn = setup.start_thread(), setup.turn()
    assert thread.thread
    await setup.delivery.deliver(setup.scene(thread), turn, setup.take("In here."))
    thread.thread.archived = thread.thread.locked = True
    with pytest.raises(
        MissingPermission, match=r"in #Act one, which is archived\. Allow me Manage Threads there"
    ):
        await setup.delivery.deliver(setup.scene(thread), turn, setup.take("Out there."))


async def test_a_locked_thread_is_called_so(setup: PostingSetup) -> None:
    thread = setup.start_thread()
    assert thread.thread
    thread.thread.locked = True
    with pytest.raises(PostingError, match=r"I could not post in #Act one\. The thread is locked"):
        await setup.delivery.post_sentence(setup.scene(thread), "Hello?")


async def test_typing_is_shown_while_somebody_thinks_and_ends_with_it(setup: PostingSetup) -> None:
    async with setup.delivery.thinking(setup.scene(), setup.turn()):
        await setup.discord.until(lambda: setup.discord.world.typing)
    assert setup.discord.world.typing == [(setup.discord.bot, setup.channel)]
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("typing")]


async def test_typing_that_is_refused_stops_nothing(setup: PostingSetup) -> None:
    setup.discord.faults.refuse("start_typing", 50013)
    async with setup.delivery.thinking(setup.scene(), setup.turn()):
        await setup.discord.until(lambda: setup.discord.asked("start_typing"))
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take("Here."))
    assert setup.read() == [("Mr Bennet", "Here.")]


async def test_a_failed_reply_is_said_with_a_button_that_names_the_turn(
    setup: PostingSetup,
) -> None:
    turn = setup.turn()
    await setup.delivery.fail(setup.scene(), turn, "The model_s lost. Try again.")
    (post,) = setup.channel.messages
    assert post.content == "⚠️ The model\\_s lost. Try again."
    assert post.labels == ["Try again"]
    assert not post.webhook
    (button,) = post.now.components[0]["components"]
    assert button["custom_id"] == f"aside:retry:{turn.id}"
    assert TRY_AGAIN_ID.startswith("aside:retry:")


async def test_what_was_said_of_a_failure_goes_when_the_reply_comes(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    await setup.delivery.fail(scene, turn, "Lost.")
    await setup.delivery.fail(scene, turn, "Lost again.")
    assert setup.texts() == ["⚠️ Lost again."]
    await setup.delivery.deliver(scene, turn, setup.take("Here."))
    assert setup.read() == [("Mr Bennet", "Here.")]


async def test_a_failure_notice_that_somebody_deleted_stops_nothing(setup: PostingSetup) -> None:
    scene, turn = setup.scene(), setup.turn()
    await setup.delivery.fail(scene, turn, "Lost.")
    setup.channel.messages[0].deleted = True
    await setup.delivery.deliver(scene, turn, setup.take("Here."))
    assert setup.read() == [("Mr Bennet", "Here.")]


async def test_what_aside_says_itself_is_small_print(setup: PostingSetup) -> None:
    await setup.delivery.post_sentence(setup.scene(), "The oldest turns left.")
    assert setup.texts() == ["-# The oldest turns left."]


async def test_a_reply_of_nothing_is_a_fault_and_no_silence(setup: PostingSetup) -> None:
    with pytest.raises(PostingError, match="Mr Bennet said and did nothing"):
        await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(" "))


async def test_where_the_bot_may_not_write_it_is_said_which_permission_is_missing_and_where(
    setup: PostingSetup,
) -> None:
    setup.discord.world.overwrite(setup.channel, setup.guild.everyone, deny="send_messages")
    own = next(role for role in setup.guild.roles.values() if role.managed_by)
    setup.discord.world.overwrite(setup.channel, own, deny="send_messages")
    with pytest.raises(MissingPermission, match=r"in #study\. Allow me Send Messages there"):
        await setup.delivery.post_sentence(setup.scene(), "Hello?")


async def test_a_channel_that_is_gone_is_called_so(setup: PostingSetup) -> None:
    scene = setup.scene()
    setup.discord.world.delete_channel(setup.channel)
    await setup.discord.until(lambda: setup.client.get_channel(setup.channel.id) is None)
    with pytest.raises(PostingError, match="The channel was deleted"):
        await setup.delivery.deliver(scene, setup.turn(), setup.take("Hello?"))


async def test_a_server_that_stumbles_is_called_so(setup: PostingSetup) -> None:
    setup.discord.faults.fail("create_message", 503)
    with pytest.raises(PostingError, match="Discord did not respond"):
        await setup.delivery.post_sentence(setup.scene(), "Hello?")
