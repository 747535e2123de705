"""Mentionable roles for characters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import discord

from bot.posting.character_roles import MOST_ROLES, make_roles, remove_roles
from bot.scenes.scene import Part

if TYPE_CHECKING:
    from tests.posting.conftest import House


def guild(house: House) -> discord.Guild:
    found = house.client.get_guild(house.guild.id)
    assert isinstance(found, discord.Guild)
    return found


async def test_each_character_gets_a_role_that_anyone_can_mention_and_that_allows_nothing(
    house: House,
) -> None:
    roles = await make_roles(guild(house), house.scene())
    assert list(roles) == ["Mr Bennet", "Elizabeth", "Clyde", "everyone"]
    for character, role_id in roles.items():
        role = house.guild.roles[role_id]
        assert (role.name, role.mentionable, role.permissions) == (character, True, 0)


async def test_a_scene_that_has_its_roles_keeps_them(house: House) -> None:
    scene = house.scene()
    roles = await make_roles(guild(house), scene)
    await house.discord.until(
        lambda: all(guild(house).get_role(role_id) for role_id in roles.values())
    )
    parts = tuple(replace(part, role_id=roles[part.character]) for part in scene.parts)
    assert await make_roles(guild(house), replace(scene, parts=parts)) == roles
    assert len(house.discord.asked("create_role")) == len(roles)


async def test_a_role_that_is_gone_is_made_anew(house: House) -> None:
    scene = replace(house.scene(), parts=(Part("Mr Bennet", role_id=5),))
    roles = await make_roles(guild(house), scene)
    assert roles["Mr Bennet"] in house.guild.roles


async def test_roles_leave_with_the_scene(house: House) -> None:
    before = set(house.guild.roles)
    roles = await make_roles(guild(house), house.scene())
    await house.discord.until(
        lambda: all(guild(house).get_role(role_id) for role_id in roles.values())
    )
    assert await remove_roles(guild(house), [*roles.values(), 5]) == []
    assert set(house.guild.roles) == before


async def test_a_role_above_the_bots_stays_and_is_named(house: House) -> None:
    high = house.discord.world.role(house.guild, "High")
    high.position = 50
    house.discord.world.role_changed(high)
    await house.discord.until(lambda: guild(house).get_role(high.id))
    house.discord.faults.refuse("delete_role", 50013)
    assert await remove_roles(guild(house), [high.id]) == [high.id]


async def test_without_manage_roles_there_are_none_and_nothing_is_asked(house: House) -> None:
    own = next(role for role in house.guild.roles.values() if role.managed_by)
    own.permissions &= ~discord.Permissions(manage_roles=True).value
    house.discord.world.role_changed(own)
    await house.discord.until(lambda: not guild(house).me.guild_permissions.manage_roles)
    assert await make_roles(guild(house), house.scene()) == {}
    assert not house.discord.asked("create_role")


async def test_a_refusal_leaves_the_others_and_the_scene_alone(house: House) -> None:
    house.discord.faults.refuse("create_role", 50013)
    assert await make_roles(guild(house), house.scene()) == {}


async def test_a_server_full_of_roles_gets_no_more(house: House) -> None:
    for number in range(MOST_ROLES - len(house.guild.roles)):
        house.discord.world.role(house.guild, f"Role {number}")
    await house.discord.until(lambda: len(guild(house).roles) == MOST_ROLES)
    assert await make_roles(guild(house), house.scene()) == {}
