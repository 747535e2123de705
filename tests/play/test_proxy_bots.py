"""Lines that a proxy bot posts again under other names, and bots that a scene hears."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogs.proxy_bots import KNOWN_PROXIES
from tests.play.harness import finished
from tests.play.test_scene import ready

if TYPE_CHECKING:
    from tests.loopback import DiscordMessage, ProxyBot
    from tests.play.harness import Evening

PLURALKIT, TUPPERBOX = KNOWN_PROXIES


def a_proxy(evening: Evening, bot_id: int = PLURALKIT) -> ProxyBot:
    """Return a proxy bot on the server."""
    return evening.discord.proxy_bot("A proxy bot", evening.guild, bot_id)


async def answers(evening: Evening, count: int) -> list[DiscordMessage]:
    """Wait for that many replies of characters and return all of them."""

    def own() -> list[DiscordMessage]:
        return [post for post in finished(evening.stage) if post.author is evening.discord.bot]

    await evening.discord.until(lambda: len(own()) >= count, 10.0, f"{count} replies")
    return own()


async def read_history(evening: Evening) -> str:
    return (await evening.gm.slash(evening.stage, "scene history")).text


async def test_a_proxied_line_is_heard_and_answered_once_in_any_order_of_events(
    evening: Evening,
) -> None:
    engine = await ready()
    stage = evening.stage
    proxy = a_proxy(evening)
    tupperbox = a_proxy(evening, TUPPERBOX)
    async with evening.online(engine):
        await evening.begin()
        engine.gate.clear()
        line = evening.lizzy.say(stage, "L: @Mr Bennet MARMALADE?")
        await evening.discord.until(lambda: engine.requests)
        proxy.repost(line, "Brave Lizzy", "@Mr Bennet MARMALADE?")
        proxy.delete(line)
        await evening.discord.quiet()
        engine.gate.set()
        await answers(evening, 1)

        line = evening.kitty.say(stage, "@Mr Bennet HONEY? -k")
        tupperbox.delete(line)
        tupperbox.repost(line, "Shy Kitty", "@Mr Bennet HONEY?")
        await answers(evening, 2)

        line = evening.lizzy.say(stage, "L: @Mr Bennet TREACLE?")
        evening.lizzy.edit(line, "L: @Mr Bennet PICKLES?")
        proxy.repost(line, "Brave Lizzy", "@Mr Bennet PICKLES?")
        evening.lizzy.edit(line, "L: @Mr Bennet PICKLES? Or MUSTARD?")
        proxy.delete(line)
        await answers(evening, 3)

        evening.discord.gateway.reverse("MESSAGE_CREATE", 2)
        line = evening.kitty.say(stage, "(( @Mr Bennet CREAM? ))")
        proxy.repost(line, "Shy Kitty", "@Mr Bennet CREAM?")
        proxy.delete(line)
        await answers(evening, 4)
        await evening.discord.quiet()

        assert len(await answers(evening, 4)) == 4
        assert not any(request in engine.cancelled for request in engine.requests[:2])
        history = await read_history(evening)
        for name, word in (
            ("Brave Lizzy", "MARMALADE"),
            ("Shy Kitty", "HONEY"),
            ("Brave Lizzy", "PICKLES"),
            ("Shy Kitty", "CREAM"),
        ):
            assert history.count(word) == 1
            assert f"**{name}** @Mr Bennet {word}?" in history
        assert "MUSTARD" not in history
        assert "TREACLE" not in history


async def test_a_restart_between_the_events_loses_and_doubles_nothing(evening: Evening) -> None:
    engine = await ready()
    stage = evening.stage
    proxy = a_proxy(evening)
    async with evening.online(engine):
        await evening.begin()
        first = evening.lizzy.say(stage, "L: @Mr Bennet MARMALADE?")
        await answers(evening, 1)
        second = evening.kitty.say(stage, "HONEY, please. -k")
        third = evening.kitty.say(stage, "(( @Mr Bennet CREAM? ))")
        await evening.discord.quiet()
        proxy.delete(second)
        await evening.discord.quiet()
    proxy.repost(first, "Brave Lizzy", "@Mr Bennet MARMALADE?")
    proxy.delete(first)
    proxy.delete(third)
    proxy.repost(third, "Shy Kitty", "@Mr Bennet CREAM?")
    async with evening.online(engine):
        await evening.discord.quiet()
        proxy.repost(second, "Shy Kitty", "HONEY, please.")
        await answers(evening, 2)
        await evening.discord.quiet()
        assert len(engine.requests) == 2
    async with evening.online(engine):
        await evening.discord.quiet()
        history = await read_history(evening)
        for words in (
            "**Brave Lizzy** @Mr Bennet MARMALADE?",
            "**Shy Kitty** HONEY, please.",
            "**Shy Kitty** @Mr Bennet CREAM?",
        ):
            assert history.count(words) == 1
        assert [history.count(word) for word in ("MARMALADE", "HONEY", "CREAM")] == [1, 1, 1]
        assert len(engine.requests) == 2


async def test_a_proxied_line_stays_its_authors(evening: Evening) -> None:
    engine = await ready()
    stage, discord = evening.stage, evening.discord
    proxy = a_proxy(evening)
    async with evening.online(engine):
        await evening.begin()
        posts = []
        for word in ("MARMALADE", "HONEY", "TREACLE"):
            line = evening.lizzy.say(stage, f"L: I like {word}.")
            posts.append(proxy.repost(line, "Brave Lizzy", f"I like {word}."))
            proxy.delete(line)
        await discord.quiet()
        exported = await evening.lizzy.slash(stage, "mydata export")
        (file,) = exported.messages[-1].files()
        assert b"Brave Lizzy: I like MARMALADE." in discord.world.files[file]

        proxy.edit(posts[0], "I like PICKLES.")
        await discord.quiet()
        discord.clock.advance(120)
        await evening.gm.slash(stage, "gm mute", player=evening.lizzy)
        proxy.delete(posts[1])
        unheard = evening.lizzy.say(stage, "L: I like MUSTARD.")
        proxy.repost(unheard, "Brave Lizzy", "I like MUSTARD.")
        proxy.delete(unheard)
        await discord.quiet()
        history = await read_history(evening)
        assert "PICKLES" in history
        assert "TREACLE" in history
        for gone in ("MARMALADE", "HONEY", "MUSTARD"):
            assert gone not in history

        await evening.lizzy.slash(stage, "mydata delete", sure=True)
        history = await read_history(evening)
        assert "PICKLES" not in history
        assert "TREACLE" not in history


async def test_a_server_chooses_its_proxy_bots_and_other_webhooks_stay_unheard(
    evening: Evening,
) -> None:
    stage, discord = evening.stage, evening.discord
    proxy = a_proxy(evening)
    other = discord.proxy_bot("Masks", evening.guild, 700_000_000_000_000_001)
    steward = discord.person("Hill", evening.guild, permissions="manage_guild")
    async with evening.online(await ready()):
        await evening.begin()
        assert "Tupperbox, PluralKit" in (await steward.slash(stage, "server proxies")).text
        chosen = await steward.slash(stage, "server proxies", allow=other, exclude=proxy)
        assert chosen.ephemeral
        assert f"Tupperbox, <@{other.id}>" in chosen.text
        line = evening.lizzy.say(stage, "L: I like MARMALADE.")
        proxy.repost(line, "Brave Lizzy", "I like MARMALADE.")
        line = evening.lizzy.say(stage, "L: I like HONEY.")
        other.repost(line, "Brave Lizzy", "I like HONEY.")
        discord.webhook_says(stage, "News", "I like TREACLE.")
        await discord.quiet()
        history = await read_history(evening)
        assert "**Lizzy (player)** L: I like MARMALADE." in history
        assert "**Brave Lizzy** I like HONEY." in history
        assert "TREACLE" not in history


async def test_a_dice_bot_is_heard_as_the_environment(evening: Evening) -> None:
    engine = await ready()
    stage = evening.stage
    avrae = evening.discord.other_bot("Avrae", evening.guild)
    async with evening.online(engine):
        await evening.begin()
        avrae.say(stage, "TOO EARLY.")
        refused = await evening.lizzy.slash(stage, "gm listen", bot=avrae)
        assert "Only the game master" in refused.text
        await evening.gm.slash(stage, "gm listen", bot=avrae)
        roll = avrae.say(stage, "Lizzy rolls **15**.")
        await evening.discord.quiet()
        avrae.edit(roll, "Lizzy rolls **20**.")
        evening.lizzy.say(stage, "@Mr Bennet Papa?")
        await answers(evening, 1)
        status = await evening.gm.slash(stage, "scene status")
        assert f"hear what <@{avrae.id}> posts" in status.text
        await evening.gm.slash(stage, "gm listen", bot=avrae, heard=False)
        avrae.say(stage, "TOO LATE.")
        evening.lizzy.say(stage, "@Mr Bennet Papa!")
        await answers(evening, 2)
        prompt = engine.requests[-1].prompt.text
        assert "Environment: Lizzy rolls **20**." in prompt
        assert "TOO" not in prompt
