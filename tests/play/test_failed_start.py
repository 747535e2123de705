"""A start that fails leaves nothing behind, and roles go however a scene ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.scripted_engine import ScriptedEngine
from tests.play.harness import Evening, personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from collections.abc import Callable

BENNET = reply("Mr Bennet", says="You refuse him?")


async def ready() -> ScriptedEngine:
    engine = ScriptedEngine([BENNET])
    await engine.start()
    return engine


async def test_a_failed_start_leaves_no_scene_no_role_and_no_post(evening: Evening) -> None:
    async with evening.online(await ready()):
        roles = set(evening.guild.roles)
        evening.discord.faults.refuse("create_message", 50013)
        failed = await evening.begin()
        assert "is playing" not in failed.text
        assert set(evening.guild.roles) == roles
        assert evening.stage.messages == []
        status = await evening.gm.slash(evening.stage, "scene status")
        assert "No scene is under way" in status.text
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()


async def test_a_failed_reopening_leaves_the_scene_ended(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        await evening.gm.slash(evening.stage, "scene end")
        roles = set(evening.guild.roles)
        evening.discord.faults.refuse("create_message", 50013)
        await evening.gm.slash(evening.stage, "scene reopen", scene="1")
        assert set(evening.guild.roles) == roles
        status = await evening.gm.slash(evening.stage, "scene status")
        assert "No scene is under way" in status.text
        await evening.gm.slash(evening.stage, "scene reopen", scene="1")
        assert "Papa?" in (await evening.gm.slash(evening.stage, "scene history")).text or personas(
            evening.stage
        )


def delete_channel(evening: Evening) -> None:
    evening.discord.world.delete_channel(evening.stage)


@pytest.mark.parametrize("end", [delete_channel])
@pytest.mark.parametrize("online", [True, False])
async def test_roles_go_if_the_channel_is_deleted(
    evening: Evening, end: Callable[[Evening], None], online: bool
) -> None:
    roles = set(evening.guild.roles)
    async with evening.online(await ready()):
        await evening.begin()
        assert set(evening.guild.roles) != roles
        if online:
            end(evening)
            await evening.discord.until(lambda: set(evening.guild.roles) == roles)
            return
    end(evening)
    async with evening.online(await ready()):
        await evening.discord.until(lambda: set(evening.guild.roles) == roles)


async def test_roles_go_when_a_server_invites_the_bot_again(evening: Evening) -> None:
    roles = set(evening.guild.roles)
    async with evening.online(await ready()):
        await evening.begin()
        bot = evening.discord.world.bot
        own_roles = evening.guild.members[bot.id].roles
        evening.discord.world.leave(evening.guild, bot)
        await evening.discord.quiet()
        assert set(evening.guild.roles) != roles
        evening.discord.world.join(evening.guild, bot, *own_roles)
        await evening.discord.until(lambda: set(evening.guild.roles) == roles)
