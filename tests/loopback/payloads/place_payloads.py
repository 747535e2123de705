"""Servers, channels and threads as Discord's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..clock import iso
from ..entities import THREADS, ChannelKind
from .people_payloads import member, role, user

if TYPE_CHECKING:
    from ..entities import Channel, Guild, Json
    from ..world import World


_REQUIRE_TAG = 1 << 4


def channel(where: Channel) -> Json:
    """Return the JSON of any kind of channel."""
    flags = _REQUIRE_TAG if where.requires_tag else 0
    data: Json = {"id": str(where.id), "type": int(where.kind), "flags": flags}
    data["last_message_id"] = str(where.history[-1].id) if where.history else None
    if where.is_dm:
        return data | {"recipients": [user(who) for who in where.recipients if not who.bot]}
    assert where.guild
    data |= {
        "name": where.name,
        "guild_id": str(where.guild.id),
        "parent_id": str(where.parent.id) if where.parent else None,
        "rate_limit_per_user": where.slowmode,
    }
    return data | (_thread_fields(where) if where.kind in THREADS else _guild_channel_fields(where))


def _guild_channel_fields(where: Channel) -> Json:
    data: Json = {
        "position": where.position,
        "nsfw": where.nsfw,
        "topic": where.topic,
        "permission_overwrites": [
            {
                "id": str(each.id),
                "type": each.kind,
                "allow": str(each.allow),
                "deny": str(each.deny),
            }
            for each in where.overwrites.values()
        ],
    }
    if where.kind is ChannelKind.FORUM:
        data |= {
            "available_tags": where.tags,
            "default_reaction_emoji": None,
            "default_sort_order": None,
            "default_forum_layout": 0,
        }
    if where.kind is ChannelKind.VOICE:
        data |= {"bitrate": 64000, "user_limit": 0, "rtc_region": None}
    return data


def _thread_fields(where: Channel) -> Json:
    state = where.thread
    assert state
    said = sum(not message.deleted for message in where.history)
    return {
        "owner_id": str(state.owner_id),
        "message_count": said,
        "member_count": len(state.members),
        "total_message_sent": len(where.history),
        "applied_tags": [str(tag) for tag in state.applied_tags],
        "thread_metadata": {
            "archived": state.archived,
            "archive_timestamp": iso(state.changed_at),
            "auto_archive_duration": state.auto_archive_duration,
            "locked": state.locked,
            "invitable": state.invitable,
            "create_timestamp": iso(state.changed_at),
        },
    }


def thread_member(where: Channel, user_id: int) -> Json:
    assert where.thread
    return {
        "id": str(where.id),
        "user_id": str(user_id),
        "join_timestamp": iso(where.thread.changed_at),
        "flags": 0,
    }


UNREMARKABLE: Json = {  # fields that no test has needed yet
    "emojis": [],
    "stickers": [],
    "features": [],
    "icon": None,
    "banner": None,
    "splash": None,
    "discovery_splash": None,
    "description": None,
    "region": "deprecated",
    "verification_level": 0,
    "default_message_notifications": 1,
    "explicit_content_filter": 0,
    "mfa_level": 0,
    "nsfw_level": 0,
    "nsfw": False,
    "premium_tier": 0,
    "premium_subscription_count": 0,
    "premium_progress_bar_enabled": False,
    "system_channel_id": None,
    "system_channel_flags": 0,
    "rules_channel_id": None,
    "public_updates_channel_id": None,
    "safety_alerts_channel_id": None,
    "afk_channel_id": None,
    "afk_timeout": 300,
    "application_id": None,
    "vanity_url_code": None,
    "widget_enabled": False,
    "widget_channel_id": None,
    "home_header": None,
    "max_members": 500000,
    "max_presences": None,
    "max_video_channel_users": 25,
    "max_stage_video_channel_users": 50,
    "incidents_data": None,
}


KNOWN_GUILD = {"unavailable": False}
"""In the GUILD_CREATE of a server that the bot was on before. A new one lacks the field."""


def guild(where: Guild, world: World, *, complete: bool = True) -> Json:
    """Return the JSON of a server: `complete` as in events, otherwise as over HTTP."""
    data: Json = {
        "id": str(where.id),
        "name": where.name,
        "owner_id": str(where.owner.id),
        "preferred_locale": where.locale,
        "roles": [role(each) for each in where.roles.values()],
    }
    return UNREMARKABLE | data | (_gateway_only(where, world) if complete else {})


def _gateway_only(where: Guild, world: World) -> Json:
    bot = where.members[world.bot.id]
    threads = [each for each in where.channels.values() if each.thread and not each.thread.archived]
    return {
        "joined_at": iso(bot.joined_at),
        "large": False,
        "member_count": len(where.members),
        "members": [member(each) for each in where.members.values()],
        "channels": [channel(each) for each in where.channels.values() if each.kind not in THREADS],
        "threads": [
            channel(each) for each in threads if world.may(world.bot, "view_channel", each)
        ],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }
