"""Members of a server."""

from __future__ import annotations

from .. import payloads
from ..refusals import Refusal
from ..router import Answer, Call, route
from ..rules import length_faults, refuse
from .guild_routes import refuse_above


@route("GET", "/guilds/{guild_id}/members/{user_id}")
def get_member(call: Call) -> Answer:
    return payloads.member(call.member())


@route("GET", "/guilds/{guild_id}/members")
def list_members(call: Call) -> Answer:
    after = int(call.query.get("after", 0))
    limit = int(call.query.get("limit", 1))
    found = sorted(
        (each for each in call.guild().members.values() if each.user.id > after),
        key=lambda e: e.user.id,
    )
    return [payloads.member(each) for each in found[:limit]]


@route("GET", "/guilds/{guild_id}/members/search")
def search_members(call: Call) -> Answer:
    query = call.query.get("query", "").lower()
    limit = int(call.query.get("limit", 1))
    found = [
        each for each in call.guild().members.values() if each.shown_name.lower().startswith(query)
    ]
    return [payloads.member(each) for each in found[:limit]]


@route("PATCH", "/guilds/{guild_id}/members/{user_id}")
def edit_member(call: Call) -> Answer:
    member = call.member()
    if "nick" in call.body:
        call.need_in_guild(
            "change_nickname" if member.user is call.world.bot else "manage_nicknames"
        )
        refuse(length_faults(call.body, "nick", 32))
        member.nick = call.body["nick"] or None
    if "roles" in call.body:
        call.need_in_guild("manage_roles")
        member.roles = [call.guild().roles[int(each)] for each in call.body["roles"]]
    call.world.member_changed(member)
    return payloads.member(member)


@route("PUT", "/guilds/{guild_id}/members/{user_id}/roles/{role_id}")
def give_role(call: Call) -> Answer:
    member = call.member()
    role = call.role()
    refuse_above(call, role)
    if role not in member.roles:
        member.roles.append(role)
        call.world.member_changed(member)
    return None


@route("DELETE", "/guilds/{guild_id}/members/{user_id}/roles/{role_id}")
def take_role(call: Call) -> Answer:
    member = call.member()
    role = call.role()
    refuse_above(call, role)
    if role in member.roles:
        member.roles.remove(role)
        call.world.member_changed(member)
    return None


@route("DELETE", "/guilds/{guild_id}/members/{user_id}")
def kick_member(call: Call) -> Answer:
    call.need_in_guild("kick_members")
    member = call.member()
    if member.user is call.guild().owner:
        raise Refusal(50013)
    call.world.leave(call.guild(), member.user)
    return None
