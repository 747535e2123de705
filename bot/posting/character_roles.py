"""Mentionable roles for characters, so that people can pick them like other people."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import discord

from bot.posting.discord_errors import REQUEST_ERRORS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.scenes.scene import Scene

_log = logging.getLogger(__name__)

MAX_ROLES: Final = 250
"""The number of roles that Discord allows on a server."""

_REASON = "A character of a scene that people can mention"


async def create_roles(guild: discord.Guild, scene: Scene) -> dict[str, int]:
    """Return a role id for each character, by the character's name.

    Roles that the scene already has are kept. New roles have no permissions. If a role can't be
    created, log the reason and leave that character out.
    """
    roles = {
        part.character: part.role_id
        for part in scene.parts
        if part.role_id and guild.get_role(part.role_id)
    }
    without = [part.character for part in scene.parts if part.character not in roles]
    if without and not guild.me.guild_permissions.manage_roles:
        _log.info("Server %d: no roles for characters because Manage Roles is missing", guild.id)
        return roles
    for character in without:
        if len(guild.roles) >= MAX_ROLES:
            _log.warning(
                "Server %d: the role limit is reached, so some characters have no role", guild.id
            )
            break
        try:
            role = await guild.create_role(
                name=character,
                mentionable=True,
                permissions=discord.Permissions.none(),
                reason=_REASON,
            )
        except REQUEST_ERRORS as error:
            _log.warning("Server %d: creating a character's role failed: %s", guild.id, error)
            break
        roles[character] = role.id
    return roles


async def delete_roles(guild: discord.Guild, role_ids: Iterable[int]) -> list[int]:
    """Delete the roles of a scene that has ended. Return the ids that could not be deleted."""
    left: list[int] = []
    for role_id in role_ids:
        if (role := guild.get_role(role_id)) is None:
            continue
        try:
            await role.delete(reason="The scene has ended")
        except discord.NotFound:
            continue
        except REQUEST_ERRORS as error:
            _log.warning("Server %d: deleting role %d failed: %s", guild.id, role_id, error)
            left.append(role_id)
    return left
