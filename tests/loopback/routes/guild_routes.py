"""Servers and their roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import payloads
from ..computed_permissions import in_guild
from ..refusals import Refusal
from ..router import Answer, Call, route
from ..rules import length_faults, refuse

if TYPE_CHECKING:
    from ..entities import DiscordRole, Json

MOST_ROLES = 250


@route("GET", "/guilds/{guild_id}")
def get_guild(call: Call) -> Answer:
    guild = call.guild()
    counts = {"approximate_member_count": len(guild.members), "approximate_presence_count": 0}
    return payloads.guild(guild, call.world, complete=False) | counts


@route("GET", "/guilds/{guild_id}/roles")
def list_roles(call: Call) -> Answer:
    return [payloads.role(each) for each in call.guild().roles.values()]


@route("GET", "/guilds/{guild_id}/roles/{role_id}")
def get_role(call: Call) -> Answer:
    return payloads.role(call.role())


@route("POST", "/guilds/{guild_id}/roles")
def create_role(call: Call) -> Answer:
    guild = call.guild()
    body = call.body
    call.need_in_guild("manage_roles")
    if len(guild.roles) >= MOST_ROLES:
        raise Refusal(30005)
    role = call.world.role(guild, "new role")
    _change(call, role, body)
    return payloads.role(role)


@route("PATCH", "/guilds/{guild_id}/roles/{role_id}")
def edit_role(call: Call) -> Answer:
    role = call.role()
    refuse_above(call, role)
    _change(call, role, call.body)
    return payloads.role(role)


@route("DELETE", "/guilds/{guild_id}/roles/{role_id}")
def delete_role(call: Call) -> Answer:
    role = call.role()
    refuse_above(call, role)
    call.world.delete_role(role)
    return None


@route("PATCH", "/guilds/{guild_id}/roles")
def move_roles(call: Call) -> Answer:
    call.need_in_guild("manage_roles")
    roles = call.guild().roles
    for each in call.items:
        roles[int(each["id"])].position = each.get("position") or 0
        call.world.role_changed(roles[int(each["id"])])
    return list_roles(call)


def refuse_above(call: Call, role: DiscordRole) -> None:
    """Refuse changes to roles that are not below the bot's highest role."""
    call.need_in_guild("manage_roles")
    mine = call.guild().members[call.world.bot.id].roles
    if role.position >= max((each.position for each in mine), default=0) or role.managed_by:
        raise Refusal(50013)


def _change(call: Call, role: DiscordRole, body: Json) -> None:
    refuse(length_faults(body, "name", 100))
    wanted = int(body.get("permissions") or role.permissions)
    have = in_guild(role.guild.members[call.world.bot.id], role.guild)
    if wanted & ~have & ~role.permissions:
        raise Refusal(50013)
    role.permissions = wanted
    role.name = body.get("name") or role.name
    role.mentionable = bool(body.get("mentionable", role.mentionable))
    role.hoist = bool(body.get("hoist", role.hoist))
    role.color = (body.get("colors") or {}).get("primary_color") or body.get("color") or role.color
    call.world.role_changed(role)
