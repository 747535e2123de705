"""Mentionable roles for characters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import discord

from bot.posting.character_roles import MAX_ROLES, create_roles, delete_roles
from bot.scenes.scene import Part

if TYPE_CHECKING:
    from tests.posting.conftest import PostingSetup


def guild(setup: PostingSetup) -> discord.Guild:
    found = setup.client.get_guild(setup.guild.id)
    assert isinstance(found, discord.Guild)
    return found


async def test_each_character_gets_a_mentionable_role_without_permissions(
    setup: PostingSetup,
) -> None:
    roles = await create_roles(guild(setup), setup.scene())
    assert list(roles) == ["Mr Bennet", "Elizabeth", "Clyde", "everyone"]
    for character, role_id in roles.items():
        role = setup.guild.roles[role_id]
        assert (role.name, role.mentionable, role.permissions) == (character, True, 0)


async def test_a_scene_that_has_its_roles_keeps_them(setup: PostingSetup) -> None:
    scene = setup.scene()
    roles = await create_roles(guild(setup), scene)
    await setup.discord.until(
        lambda: all(guild(setup).get_role(role_id) for role_id in roles.values())
    )
    parts = tuple(replace(part, role_id=roles[part.character]) for part in scene.parts)
    assert await create_roles(guild(setup), replace(scene, parts=parts)) == roles
    assert len(setup.discord.requests_to("create_role")) == len(roles)


async def test_a_deleted_role_is_created_again(setup: PostingSetup) -> None:
    scene = replace(setup.scene(), parts=(Part("Mr Bennet", role_id=5),))
    roles = await create_roles(guild(setup), scene)
    assert roles["Mr Bennet"] in setup.guild.roles


async def test_roles_are_deleted_with_the_scene(setup: PostingSetup) -> None:
    before = set(setup.guild.roles)
    roles = await create_roles(guild(setup), setup.scene())
    await setup.discord.until(
        lambda: all(guild(setup).get_role(role_id) for role_id in roles.values())
    )
    assert await delete_roles(guild(setup), [*roles.values(), 5]) == []
    assert set(setup.guild.roles) == before


async def test_the_id_of_a_role_that_cannot_be_deleted_is_returned(setup: PostingSetup) -> None:
    high = setup.discord.world.role(setup.guild, "High")
    high.position = 50
    setup.discord.world.role_changed(high)
    await setup.discord.until(lambda: guild(setup).get_role(high.id))
    setup.discord.faults.refuse("delete_role", 50013)
    assert await delete_roles(guild(setup), [high.id]) == [high.id]


async def test_without_manage_roles_no_role_is_requested(
    setup: PostingSetup,
) -> None:
    own = next(role for role in setup.guild.roles.values() if role.managed_by)
    own.permissions &= ~discord.Permissions(manage_roles=True).value
    setup.discord.world.role_changed(own)
    await setup.discord.until(lambda: not guild(setup).me.guild_permissions.manage_roles)
    assert await create_roles(guild(setup), setup.scene()) == {}
    assert not setup.discord.requests_to("create_role")


async def test_an_error_while_creating_a_role_is_not_raised(setup: PostingSetup) -> None:
    setup.discord.faults.refuse("create_role", 50013)
    assert await create_roles(guild(setup), setup.scene()) == {}


async def test_a_server_full_of_roles_gets_no_more(setup: PostingSetup) -> None:
    for number in range(MAX_ROLES - len(setup.guild.roles)):
        setup.discord.world.role(setup.guild, f"Role {number}")
    await setup.discord.until(lambda: len(guild(setup).roles) == MAX_ROLES)
    assert await create_roles(guild(setup), setup.scene()) == {}
