"""Evenings on which people ask what they can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogs.help_commands import WELCOME
from tests.engine.scripted_engine import ScriptedEngine

if TYPE_CHECKING:
    from tests.play.harness import Evening


async def test_help_is_private_and_fits_the_person_who_asks(evening: Evening) -> None:
    engine = ScriptedEngine([])
    await engine.start()
    async with evening.online(engine):
        stranger = await evening.kitty.slash(evening.stage, "help")
        assert stranger.ephemeral
        assert "/cast join" in stranger.text
        assert "/gm narrate" not in stranger.text
        await evening.begin()
        directing = await evening.gm.slash(evening.stage, "help")
        assert directing.ephemeral
        await evening.discord.until(lambda: "more for" in directing.text)
        assert "`/gm narrate` – " in directing.text
        assert "`/scene clear` – " in directing.text
        assert "/cast join" not in directing.text
        assert all(len(message.content) <= 2000 for message in directing.messages)
        asked = await evening.kitty.slash(evening.stage, "help", topic="GAME_MASTERS")
        await evening.discord.until(lambda: "more for" in asked.text)
        assert asked.text == directing.text


async def test_about_names_the_model_and_no_internals(evening: Evening) -> None:
    engine = ScriptedEngine([])
    await engine.start()
    async with evening.online(engine):
        about = await evening.kitty.slash(evening.stage, "about")
        assert about.ephemeral
        assert f"Model: {engine.info.model}, on the bot's machine." in about.text
        assert "/mydata delete" in about.text
        assert str(evening.settings.store.path) not in about.text


async def test_a_server_that_invites_the_bot_reads_one_welcome(evening: Evening) -> None:
    engine = ScriptedEngine([])
    await engine.start()
    world = evening.discord.world
    guild = evening.discord.guild("Pemberley", bot_permissions="manage_webhooks")
    hall = evening.discord.text_channel(guild, "hall")
    (bot_role,) = [role for role in guild.roles.values() if role.managed_by is world.bot]
    async with evening.online(engine):
        world.leave(guild, world.bot)
        await evening.discord.quiet()
        assert hall.messages == []
        world.join(guild, world.bot, bot_role)
        await evening.discord.until(lambda: hall.messages)
        await evening.discord.quiet()
        assert [message.content for message in hall.messages] == [WELCOME]
        assert WELCOME.count("\n") == 4
        assert evening.stage.messages == []
