"""People and their roles as Discord's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..clock import iso

if TYPE_CHECKING:
    from ..entities import DiscordRole, Json, Member, User


def user(who: User) -> Json:
    return {
        "id": str(who.id),
        "username": who.name,
        "discriminator": "0",
        "global_name": None if who.bot else who.display_name,
        "avatar": who.avatar,
        "bot": who.bot,
        "public_flags": 0,
        "flags": 0,
        "primary_guild": None,
    }


def member(who: Member, *, permissions: int | None = None, with_user: bool = True) -> Json:
    until = who.timed_out_until
    data: Json = {
        "roles": [str(role.id) for role in who.roles],
        "nick": who.nick,
        "avatar": None,
        "banner": None,
        "joined_at": iso(who.joined_at),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": None if until is None else iso(until),
    }
    if with_user:
        data["user"] = user(who.user)
    if permissions is not None:
        data["permissions"] = str(permissions)
    return data


def role(what: DiscordRole) -> Json:
    data: Json = {
        "id": str(what.id),
        "name": what.name,
        "permissions": str(what.permissions),
        "position": what.position,
        "color": what.color,
        "colors": {"primary_color": what.color, "secondary_color": None, "tertiary_color": None},
        "hoist": what.hoist,
        "managed": what.managed_by is not None,
        "mentionable": what.mentionable,
        "icon": None,
        "unicode_emoji": None,
        "flags": 0,
    }
    if what.managed_by:
        data["tags"] = {"bot_id": str(what.managed_by.id)}
    return data
