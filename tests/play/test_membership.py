"""A bot that is not a member of the server, and a channel that the bot can't see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.play.take_harness import FIRST, asked, ready, refused

if TYPE_CHECKING:
    from typing import Any

    from tests.play.harness import Evening

COMMANDS: list[tuple[str, dict[str, Any]]] = [
    ("scene start", {"scenario": "pride-and-prejudice"}),
    ("scene status", {}),
    ("gm narrate", {"text": "It rains."}),
    ("roll", {"dice": "2d6"}),
    ("reveal status", {}),
]


@pytest.mark.parametrize(("command", "options"), COMMANDS)
async def test_a_bot_that_is_not_a_member_names_the_invitation(
    evening: Evening, command: str, options: dict[str, Any]
) -> None:
    async with evening.online(await ready(FIRST)):
        evening.discord.world.leave(evening.guild, evening.discord.bot)
        await evening.discord.quiet()
        outcome = await evening.gm.slash(evening.stage, command, **options)
        await refused(evening, outcome, "I am not a member of this server")
        assert f"guild_id={evening.guild.id}" in outcome.text
        assert "hidden" not in outcome.text


async def test_a_button_on_an_old_post_names_the_invitation_after_the_bot_left(
    evening: Evening,
) -> None:
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        post = await asked(evening)
        await evening.discord.quiet()
        evening.discord.world.leave(evening.guild, evening.discord.bot)
        await evening.discord.quiet()
        await refused(
            evening, await evening.lizzy.press(post, "Retry"), "I am not a member of this server"
        )
        outcome = await evening.lizzy.context_menu(post, "Show thoughts")
        await refused(evening, outcome, "I am not a member of this server")


async def test_personal_data_can_be_exported_although_the_bot_left(evening: Evening) -> None:
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        await asked(evening)
        evening.discord.world.leave(evening.guild, evening.discord.bot)
        await evening.discord.quiet()
        outcome = await evening.lizzy.slash(evening.stage, "mydata export")
        await evening.discord.until(lambda: outcome.messages)
        assert "not a member" not in outcome.text


async def test_the_name_of_a_channel_that_the_bot_cannot_see_is_not_shown(
    evening: Evening,
) -> None:
    evening.discord.world.overwrite(evening.stage, evening.guild.everyone, deny="view_channel")
    evening.discord.world.overwrite(evening.stage, evening.gm.user, allow="view_channel")
    evening.stage.name = "___hidden___"
    async with evening.online(await ready(FIRST)):
        outcome = await evening.begin()
        await refused(
            evening,
            outcome,
            "I lack a permission in this channel. Allow me View Channel there.",
        )
        assert "hidden" not in outcome.text


async def test_direct_messages_offer_no_command_that_needs_a_server(
    evening: Evening,
) -> None:
    async with evening.online(await ready(FIRST)):
        registered = [command.data for command in evening.discord.world.commands.values()]
        offered = {each["name"] for each in registered if each["dm_permission"]}
        assert offered == {"about", "character", "help", "mydata"}
