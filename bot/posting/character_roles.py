"""Mentionable roles made for characters, so that people can pick them as they pick each other."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import discord

from bot.posting.discord_errors import REQUEST_ERRORS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.scenes.scene import Scene

_log = logging.getLogger(__name__)

MOST_ROLES: Final = 250
"""How many roles a server may have."""

_REASON = "A character of a scene that people can mention"


async def make_roles(guild: discord.Guild, scene: Scene) -> dict[str, int]:
    """Return a role for each character, by the character's name: one that the scene has already, or a new one
    without any permission.

    Nothing here stops a scene: characters that could get no role are left out, and the log says why.
    """
    roles = {
        part.character: part.role_id
        for part in scene.parts
        if part.role_id and guild.get_role(part.role_id)
    }
    without = [part.character for part in scene.parts if part.character not in roles]
    if without and not guild.me.guild_permissions.manage_roles:
        _log.info("Server %d: no roles for characters, since Manage Roles is missing", guild.id)
        return roles
    for character in without:
        if len(guild.roles) >= MOST_ROLES:
            _log.warning(
                "Server %d has as many roles as it may have; some characters get none", guild.id
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
            _log.warning("Server %d: no role could be made for a character: %s", guild.id, error)
            break
        roles[character] = role.id
    return roles


async def remove_roles(guild: discord.Guild, role_ids: Iterable[int]) -> list[int]:
    """Remove the roles of a scene that has ended; return those that could not be."""
    left: list[int] = []
    for role_id in role_ids:
        if (role := guild.get_role(role_id)) is None:
            continue
        try:
            await role.delete(reason="The scene has ended")
        except discord.NotFound:
            continue
        except REQUEST_ERRORS as error:
            _log.warning("Server %d: role %d could not be removed: %s", guild.id, role_id, error)
            left.append(role_id)
    return left
