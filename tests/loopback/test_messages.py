"""The bot's own messages, people's messages, and refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
import pytest

from .entities import Privileged
from .picker import NotOffered
from .server import LoopbackDiscord
from .stage_bot import StageBot, text_channel

if TYPE_CHECKING:
    from .conftest import Play


async def test_a_bot_hears_people(play: Play) -> None:
    said = play.lizzy.say(play.stage, f"Hello {play.discord.bot.mention}")
    [heard] = await play.discord.until(lambda: play.bot.heard)
    assert (heard.content, heard.author.display_name) == (
        f"Hello {play.discord.bot.mention}",
        "Elizabeth",
    )
    assert heard.mentions == [play.bot.user]
    play.lizzy.edit(said, "Hello, whoever you are")
    play.lizzy.delete(said)
    [edited] = await play.discord.until(lambda: play.bot.edits)
    assert edited.content == "Hello, whoever you are"
    assert list(said.ever())[1:] == [f"Hello {play.discord.bot.mention}", "Hello, whoever you are"]
    assert play.stage.messages == []


async def test_too_long_and_empty_messages_are_refused(play: Play) -> None:
    stage = text_channel(play.bot, play.stage.id)
    for text, code in (("x" * 2001, 50035), ("💔" * 1001, 50035), ("", 50006), (" \n ", 50006)):
        with pytest.raises(discord.HTTPException) as refused:
            await stage.send(text)
        assert refused.value.code == code
    await stage.send("x" * 2000)
    assert [each.code for each in play.discord.forgive()] == [50035, 50035, 50006, 50006]
    assert len(play.stage.messages) == 1


async def test_embeds_have_limits_each_and_together(play: Play) -> None:
    stage = text_channel(play.bot, play.stage.id)
    await stage.send(
        embed=discord.Embed(title="Play", description="x" * 4096).set_author(name="Lizzy")
    )
    for embeds in (
        [discord.Embed(description="x" * 4097)],
        [discord.Embed(description="x" * 3001)] * 2,
    ):
        with pytest.raises(discord.HTTPException):
            await stage.send(embeds=embeds)
    assert [each.code for each in play.discord.forgive()] == [50035, 50035]


async def test_a_mention_notifies_only_if_it_is_allowed(play: Play) -> None:
    stage = text_channel(play.bot, play.stage.id)
    lizzy = play.lizzy
    quiet = play.discord.world.role(play.guild, "quiet")
    loud = play.discord.world.role(play.guild, "loud", mentionable=True)
    text = f"{lizzy.mention} {quiet.mention} {loud.mention} @everyone"
    await stage.send(text)
    await stage.send(text, allowed_mentions=discord.AllowedMentions.none())
    freely, silently = play.stage.messages
    assert freely.pings == {
        str(lizzy.id),
        str(loud.id),
    }  # everyone may be named, but only Jane is notified
    assert silently.pings == set()


async def test_a_reply_pings_and_knows_its_message(play: Play) -> None:
    question = play.lizzy.say(play.stage, "Papa?")
    await play.discord.until(lambda: play.bot.heard)
    await play.bot.heard[0].reply("Yes?")
    answer = play.stage.messages[-1]
    assert answer.reply_to is question
    assert answer.pings == {str(play.lizzy.id)}
    again = play.lizzy.say(play.stage, "Well…", reply_to=answer)
    await play.discord.until(lambda: len(play.bot.heard) == 3)
    reference = play.bot.heard[2].reference
    assert reference
    assert isinstance(reference.resolved, discord.Message)
    assert reference.resolved.content == "Yes?"
    assert again.pings == {str(play.discord.bot.id)}


async def test_a_nonce_prevents_a_second_post(play: Play) -> None:
    stage = text_channel(play.bot, play.stage.id)
    play.discord.faults.fail("create_message", 502, after_work=True)
    await play.bot.http.request(
        discord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=stage.id),
        json={"content": "once", "nonce": "n1", "enforce_nonce": True},
    )
    assert len(play.discord.requests_to("create_message")) == 2
    assert [message.content for message in play.stage.messages] == ["once"]


async def test_only_the_author_may_edit_a_message(play: Play) -> None:
    said = play.lizzy.say(play.stage, "Mine")
    await play.discord.until(lambda: play.bot.heard)
    with pytest.raises(discord.Forbidden) as refused:
        await play.bot.heard[0].edit(content="Yours")
    assert refused.value.code == 50005
    await play.bot.heard[0].delete()
    assert said.deleted
    play.discord.forgive(50005)


async def test_the_history_can_be_read(play: Play) -> None:
    for number in range(5):
        play.lizzy.say(play.stage, str(number))
    stage = text_channel(play.bot, play.stage.id)
    assert [each.content async for each in stage.history(limit=3)] == ["4", "3", "2"]
    after = discord.Object(play.stage.messages[1].id)
    assert [each.content async for each in stage.history(after=after)] == ["2", "3", "4"]
    with pytest.raises(discord.NotFound) as unknown:
        await stage.fetch_message(1)
    assert unknown.value.code == 10008


async def test_without_the_content_intent_a_bot_reads_only_messages_about_itself() -> None:
    intents = discord.Intents.default()
    portal = frozenset({Privileged.MEMBERS})
    async with LoopbackDiscord(portal=portal) as loopback:
        guild = loopback.guild()
        stage = loopback.text_channel(guild, "stage")
        lizzy = loopback.person("Lizzy", guild)
        bot = StageBot(loopback.connector(), intents=intents)
        async with loopback.running(bot):
            lizzy.say(stage, "secret", files={"letter.txt": b"Dear"})
            lizzy.say(stage, f"{loopback.bot.mention} open")
            lizzy.say(lizzy.dm, "private")
            await loopback.until(lambda: len(bot.heard) == 3)
            assert [each.content for each in bot.heard] == [
                "",
                f"{loopback.bot.mention} open",
                "private",
            ]
            assert bot.heard[0].attachments == []
            fetched = [each.content async for each in text_channel(bot, stage.id).history()]
            assert fetched == [f"{loopback.bot.mention} open", ""]


async def test_forwards_stickers_and_files_have_no_text(play: Play) -> None:
    said = play.lizzy.say(play.stage, "Original")
    play.lizzy.say(play.stage, forward=said)
    play.lizzy.say(play.stage, sticker="wave")
    play.lizzy.say(play.stage, files={"letter.txt": b"Dear"})
    await play.discord.until(lambda: len(play.bot.heard) == 4)
    _, forwarded, sticker, letter = play.bot.heard
    assert [each.content for each in (forwarded, sticker, letter)] == [""] * 3
    assert forwarded.message_snapshots[0].content == "Original"
    assert sticker.stickers[0].name == "wave"
    assert await letter.attachments[0].read() == b"Dear"


async def test_a_pin_and_a_thread_post_notices(play: Play) -> None:
    play.discord.world.overwrite(play.stage, play.discord.bot, allow="pin_messages")
    play.lizzy.say(play.stage, "Remember this")
    await play.discord.until(lambda: play.bot.heard)
    await play.bot.heard[0].pin()
    await play.discord.until(lambda: len(play.bot.heard) == 2)
    assert play.bot.heard[1].type is discord.MessageType.pins_add
    assert play.stage.messages[0].pinned


async def test_people_have_limits_too(play: Play) -> None:
    play.discord.world.overwrite(play.stage, play.guild.everyone, deny="send_messages")
    with pytest.raises(NotOffered, match="can't send messages"):
        play.lizzy.say(play.stage, "Hello?")


async def test_typing_and_reactions_are_events(play: Play) -> None:
    play.lizzy.say(play.stage, "Well?")
    await play.discord.until(lambda: play.bot.heard)
    async with text_channel(play.bot, play.stage.id).typing():
        await play.bot.heard[0].add_reaction("🎭")
    assert (play.discord.bot, play.stage) in play.discord.world.typing
    assert list(play.stage.messages[0].reactions) == ["🎭"]
    await play.bot.heard[0].remove_reaction("🎭", discord.Object(play.discord.bot.id))
    assert play.stage.messages[0].reactions["🎭"] == []


async def test_other_bots_and_webhooks_differ_from_people(play: Play) -> None:
    other = play.discord.other_bot("Other", play.guild)
    other.say(play.stage, "beep")
    play.discord.webhook_says(play.stage, "News", "Extra!")
    await play.discord.until(lambda: len(play.bot.heard) == 2)
    beep, news = play.bot.heard
    assert (beep.author.bot, beep.webhook_id) == (True, None)
    assert (news.author.name, news.webhook_id) == ("News", news.author.id)


async def test_system_messages_and_previews_arrive_too(play: Play) -> None:
    said = play.lizzy.say(play.stage, "Look at https://example.com/")
    thread = play.lizzy.start_thread(play.stage, "Act one")
    under = play.lizzy.start_thread(said, "Act two")
    await play.discord.until(lambda: len(play.bot.heard) == 2)
    assert play.bot.heard[1].type is discord.MessageType.thread_created
    assert (thread.messages, under.id) == ([], said.id)
    play.discord.show_preview(said)
    await play.discord.until(lambda: play.bot.edits)
    assert play.bot.edits[0].edited_at is None
    reactions: list[str] = []

    @play.bot.listen()
    async def on_reaction_add(reaction: discord.Reaction, _user: discord.User) -> None:
        reactions.append(str(reaction.emoji))

    play.lizzy.react(said, "🎭")
    await play.discord.until(lambda: reactions == ["🎭"])
    fetched = await text_channel(play.bot, play.stage.id).fetch_message(said.id)
    assert [str(each.emoji) for each in fetched.reactions] == ["🎭"]


async def test_a_malformed_body_is_a_violation(play: Play) -> None:
    with pytest.raises(discord.HTTPException):
        await play.bot.http.request(
            discord.http.Route("PATCH", "/channels/{channel_id}", channel_id=play.stage.id),
            json={"name": 7},
        )
    assert [each.code for each in play.discord.forgive()] == [50035]
