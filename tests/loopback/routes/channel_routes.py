"""Channels: reading, creating, changing, deleting, permissions, and typing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import payloads
from ..entities import THREADS, Channel, ChannelKind, Overwrite
from ..refusals import Refusal
from ..router import Answer, Call, route
from ..rules import length_faults, refuse
from .message_routes import check_dm, refuse_if_archived

if TYPE_CHECKING:
    from ..entities import Json


@route("GET", "/channels/{channel_id}")
def get_channel(call: Call) -> Answer:
    channel = call.channel()
    call.require("view_channel", channel)
    return payloads.channel(channel)


@route("GET", "/guilds/{guild_id}/channels")
def list_channels(call: Call) -> Answer:
    return [
        payloads.channel(each)
        for each in call.guild().channels.values()
        if each.kind not in THREADS
    ]


@route("POST", "/guilds/{guild_id}/channels", status=201)
def create_channel(call: Call) -> Answer:
    call.need_in_guild("manage_channels")
    refuse(length_faults(call.body, "name", 100, least=1))
    kind = ChannelKind(call.body.get("type") or 0)
    channel = call.world.channel(call.guild(), call.body["name"], kind)
    _change(call, channel, call.body)
    return payloads.channel(channel)


@route("PATCH", "/channels/{channel_id}")
def edit_channel(call: Call) -> Answer:
    channel = call.channel()
    body = call.body
    refuse(length_faults(body, "name", 100))
    if channel.thread:
        _change_thread(call, channel, body)
    else:
        call.require("manage_channels", channel)
        _change(call, channel, body)
    call.world.channel_changed(channel)
    return payloads.channel(channel)


def _change(call: Call, channel: Channel, body: Json) -> None:
    channel.name = body.get("name") or channel.name
    channel.topic = body.get("topic", channel.topic)
    channel.nsfw = bool(body.get("nsfw", channel.nsfw))
    channel.position = body.get("position") or channel.position
    channel.slowmode = body.get("rate_limit_per_user") or 0
    if "parent_id" in body:
        channel.parent = call.world.channels.get(int(body["parent_id"] or 0))
    for each in body.get("permission_overwrites") or []:
        allow = int(each.get("allow") or 0)
        deny = int(each.get("deny") or 0)
        channel.overwrites[int(each["id"])] = Overwrite(int(each["id"]), each["type"], allow, deny)


def _change_thread(call: Call, thread: Channel, body: Json) -> None:
    """Require Manage Threads, except that the owner of a thread may rename and archive it."""
    state, world = thread.thread, call.world
    assert state
    call.require("view_channel", thread)
    manages = world.may(world.bot, "manage_threads", thread)
    if not manages and (state.owner_id != world.bot.id or "locked" in body or state.locked):
        raise Refusal(50013)
    if body.get("archived", True):
        refuse_if_archived(thread)
    thread.name = body.get("name") or thread.name
    state.archived = body.get("archived", state.archived)
    state.locked = body.get("locked", state.locked)
    state.invitable = body.get("invitable", state.invitable)
    state.auto_archive_duration = body.get("auto_archive_duration", state.auto_archive_duration)
    state.applied_tags = [int(tag) for tag in body.get("applied_tags", state.applied_tags)]
    thread.slowmode = body.get("rate_limit_per_user", thread.slowmode)


@route("DELETE", "/channels/{channel_id}")
def delete_channel(call: Call) -> Answer:
    channel = call.channel()
    call.require("manage_threads" if channel.thread else "manage_channels", channel)
    call.world.delete_channel(channel)
    return payloads.channel(channel)


@route("PUT", "/channels/{channel_id}/permissions/{overwrite_id}")
def set_overwrite(call: Call) -> Answer:
    channel = call.channel()
    body = call.body
    call.require("manage_roles", channel)
    target = call.number("overwrite_id")
    allow = int(body.get("allow") or 0)
    deny = int(body.get("deny") or 0)
    channel.overwrites[target] = Overwrite(target, body["type"], allow, deny)
    call.world.channel_changed(channel)
    return None


@route("DELETE", "/channels/{channel_id}/permissions/{overwrite_id}")
def delete_overwrite(call: Call) -> Answer:
    channel = call.channel()
    call.require("manage_roles", channel)
    channel.overwrites.pop(call.number("overwrite_id"), None)
    call.world.channel_changed(channel)
    return None


@route("POST", "/channels/{channel_id}/typing")
def start_typing(call: Call) -> Answer:
    channel = call.channel()
    if channel.kind in {ChannelKind.CATEGORY, ChannelKind.FORUM}:
        raise Refusal(50008)
    check_dm(call.world, channel)
    call.require("send_messages", channel)
    call.world.start_typing(call.world.bot, channel)
    return None
