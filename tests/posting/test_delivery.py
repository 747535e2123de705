"""The channel and the game masters after a delivery, and the notices of failures."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import MissingPermission, PostingError
from bot.her.beats import action, planning, thought
from bot.posting.buttons import TRY_AGAIN_ID
from bot.posting.opening_post import build_embeds
from bot.scenes.reveal import Destination, RevealPolicy
from tests.loopback.entities import ChannelKind

if TYPE_CHECKING:
    from tests.posting.conftest import PostingSetup


async def test_a_reply_is_posted_under_the_characters_name_and_face(setup: PostingSetup) -> None:
    setup.portraits.faces["Mr Bennet"] = "https://a.example/bennet.png"
    await setup.delivery.deliver(
        setup.scene(), setup.turn(), setup.take(action("looks up"), "You sent for me?")
    )
    (post,) = setup.channel.messages
    assert (post.name, post.content) == ("Mr Bennet", "*looks up* You sent for me?")
    assert post.avatar_url == "https://a.example/bennet.png"
    assert post.webhook


async def test_thoughts_go_only_to_the_game_master(setup: PostingSetup) -> None:
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


async def test_public_thoughts_go_to_the_channel_as_spoilers_instead_of_to_the_game_master(
    setup: PostingSetup,
) -> None:
    reveal = RevealPolicy(thoughts=Destination.SPOILER, planning=Destination.OFF)
    take = setup.take(planning("Keep it dry."), thought("At last."), "Sit.")
    await setup.delivery.deliver(setup.scene(reveal=reveal), setup.turn(), take)
    assert setup.read() == [("Mr Bennet", "💭 ||At last.||\nSit.")]
    assert setup.thoughts == []


async def test_long_public_planning_is_a_spoiler_file(setup: PostingSetup) -> None:
    take = setup.take(planning("He must seem calm. " * 300), "Sit.")
    await setup.delivery.deliver(
        setup.scene(reveal=RevealPolicy(planning=Destination.SPOILER)), setup.turn(), take
    )
    (post,) = setup.channel.messages
    (attachment,) = post.now.attachments
    assert attachment["filename"] == "SPOILER_planning.txt"
    assert setup.discord.world.files[int(attachment["id"])].startswith(b"He must seem calm.")


async def test_the_thoughts_of_a_failed_reply_go_to_the_game_master(setup: PostingSetup) -> None:
    turn = setup.turn()
    await setup.delivery.fail(setup.scene(), turn, "Mr Bennet was lost in thought.")
    for text in ("At last.", "Never."):
        await setup.delivery.show_thoughts(setup.scene(), turn, (thought(text),))
    shown = [message.now.embeds[0]["description"] for message in setup.thoughts]
    assert shown == ["💭 At last.", "💭 Never."]
    assert len(setup.channel.messages) == 1


async def test_public_thoughts_of_a_failed_reply_go_to_the_channel_until_a_reply_replaces_them(
    setup: PostingSetup,
) -> None:
    reveal = RevealPolicy(thoughts=Destination.SPOILER, planning=Destination.OFF)
    turn = setup.turn()
    scene = setup.scene(reveal=reveal)
    await setup.delivery.fail(scene, turn, "Mr Bennet was lost in thought.")
    await setup.delivery.show_thoughts(scene, turn, (planning("Dry."), thought("At last.")))
    assert [message.content for message in setup.channel.messages] == [
        "⚠️ Mr Bennet was lost in thought.",
        "**Mr Bennet** 💭 ||At last.||",
    ]
    assert setup.thoughts == []
    await setup.delivery.deliver(scene, turn, setup.take("Sit."))
    assert setup.read() == [("Mr Bennet", "Sit.")]


async def test_every_game_master_gets_the_thoughts(setup: PostingSetup) -> None:
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


async def test_no_message_pings_anyone(setup: PostingSetup) -> None:
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


async def test_a_character_with_a_name_that_discord_rejects_can_post(setup: PostingSetup) -> None:
    for character in ("Clyde", "everyone"):
        await setup.delivery.deliver(
            setup.scene(), setup.turn(by=character), setup.take("Good day.")
        )
    assert [name for name, _ in setup.read()] == ["C\u200alyde", "everyone"]


async def test_a_scene_in_a_thread_posts_there_through_the_parents_webhook(
    setup: PostingSetup,
) -> None:
    thread = setup.start_thread()
    await setup.delivery.deliver(setup.scene(thread), setup.turn(), setup.take("In here."))
    assert setup.read(thread) == [("Mr Bennet", "In here.")]
    assert not [message for message in setup.channel.messages if message.webhook]


async def test_a_scene_in_a_forum_post_posts_there(setup: PostingSetup) -> None:
    forum = setup.discord.world.channel(setup.guild, "plays", ChannelKind.FORUM)
    post = setup.gm.start_thread(forum, "Act one")
    await setup.delivery.open(setup.scene(post))
    await setup.delivery.deliver(setup.scene(post), setup.turn(), setup.take("In here."))
    assert setup.read(post)[-1] == ("Mr Bennet", "In here.")


async def test_an_archived_thread_is_unarchived_for_a_reply_and_for_its_edit(
    setup: PostingSetup,
) -> None:
    thread = setup.start_thread()
    turn = setup.turn()
    own = next(role for role in setup.guild.roles.values() if role.managed_by)
    setup.discord.world.overwrite(setup.channel, own, allow="manage_threads")
    assert thread.thread
    thread.thread.archived = True
    await setup.delivery.deliver(setup.scene(thread), turn, setup.take("In here."))
    thread.thread.archived = True
    await setup.delivery.deliver(setup.scene(thread), turn, setup.take("Out there."))
    assert setup.read(thread) == [("Mr Bennet", "Out there.")]
    assert not thread.thread.archived


async def test_the_error_says_if_a_thread_may_not_be_unarchived(setup: PostingSetup) -> None:
    thread = setup.start_thread()
    turn = setup.turn()
    assert thread.thread
    await setup.delivery.deliver(setup.scene(thread), turn, setup.take("In here."))
    thread.thread.archived = thread.thread.locked = True
    with pytest.raises(
        MissingPermission, match=r"in #Act one, which is archived\. Allow me Manage Threads there"
    ):
        await setup.delivery.deliver(setup.scene(thread), turn, setup.take("Out there."))


async def test_the_error_says_if_a_thread_is_locked(setup: PostingSetup) -> None:
    thread = setup.start_thread()
    assert thread.thread
    thread.thread.locked = True
    with pytest.raises(PostingError, match=r"I could not post in #Act one\. The thread is locked"):
        await setup.delivery.post_sentence(setup.scene(thread), "Hello?")


async def test_typing_is_shown_while_a_character_thinks(setup: PostingSetup) -> None:
    async with setup.delivery.show_thinking(setup.scene(), setup.turn()):
        await setup.discord.until(lambda: setup.discord.world.typing)
    assert setup.discord.world.typing == [(setup.discord.bot, setup.channel)]
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("typing")]


async def test_a_reply_is_delivered_although_typing_is_refused(setup: PostingSetup) -> None:
    setup.discord.faults.refuse("start_typing", 50013)
    async with setup.delivery.show_thinking(setup.scene(), setup.turn()):
        await setup.discord.until(lambda: setup.discord.requests_to("start_typing"))
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take("Here."))
    assert setup.read() == [("Mr Bennet", "Here.")]


async def test_a_failed_reply_has_a_notice_with_a_try_again_button(
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


async def test_a_failure_notice_is_deleted_when_the_reply_is_delivered(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    await setup.delivery.fail(scene, turn, "Lost.")
    await setup.delivery.fail(scene, turn, "Lost again.")
    assert setup.texts() == ["⚠️ Lost again."]
    await setup.delivery.deliver(scene, turn, setup.take("Here."))
    assert setup.read() == [("Mr Bennet", "Here.")]


async def test_a_failure_notice_may_be_deleted_by_a_moderator(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    await setup.delivery.fail(scene, turn, "Lost.")
    setup.channel.messages[0].deleted = True
    await setup.delivery.deliver(scene, turn, setup.take("Here."))
    assert setup.read() == [("Mr Bennet", "Here.")]


async def test_sentences_of_asides_own_are_small_print(setup: PostingSetup) -> None:
    await setup.delivery.post_sentence(setup.scene(), "The oldest turns left.")
    assert setup.texts() == ["-# The oldest turns left."]


async def test_a_blank_reply_raises_an_error(setup: PostingSetup) -> None:
    with pytest.raises(PostingError, match="reply has no visible text"):
        await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take(" "))


async def test_the_error_names_the_missing_permission_and_the_channel(
    setup: PostingSetup,
) -> None:
    setup.discord.world.overwrite(setup.channel, setup.guild.everyone, deny="send_messages")
    own = next(role for role in setup.guild.roles.values() if role.managed_by)
    setup.discord.world.overwrite(setup.channel, own, deny="send_messages")
    with pytest.raises(MissingPermission, match=r"in #study\. Allow me Send Messages there"):
        await setup.delivery.post_sentence(setup.scene(), "Hello?")


async def test_the_error_says_if_a_channel_was_deleted(setup: PostingSetup) -> None:
    scene = setup.scene()
    setup.discord.world.delete_channel(setup.channel)
    await setup.discord.until(lambda: setup.client.get_channel(setup.channel.id) is None)
    with pytest.raises(PostingError, match="The channel was deleted"):
        await setup.delivery.deliver(scene, setup.turn(), setup.take("Hello?"))


async def test_the_error_says_if_discord_does_not_respond(setup: PostingSetup) -> None:
    setup.discord.faults.fail("create_message", 503)
    with pytest.raises(PostingError, match="Discord did not respond"):
        await setup.delivery.post_sentence(setup.scene(), "Hello?")


async def test_an_opening_that_fails_at_its_second_post_is_removed(setup: PostingSetup) -> None:
    scene = setup.scene()
    long = scene.scenario.model_copy(update={"opening": "It rains in Hertfordshire. " * 200})
    scene = replace(scene, scenario=long)
    assert len(build_embeds(scene)) > 1
    setup.discord.faults.slow("create_message", 0.0)
    setup.discord.faults.refuse("create_message", 50013)
    with pytest.raises(PostingError):
        await setup.delivery.open(scene)
    assert setup.channel.messages == []
