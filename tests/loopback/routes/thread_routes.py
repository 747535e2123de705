"""Threads and forum posts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import payloads, speech
from ..conversation import MessageKind
from ..entities import THREADS, ChannelKind
from ..refusals import Refusal
from ..router import Answer, Call, route
from ..rules import length_faults, refuse
from .drafts import new_draft
from .message_routes import refuse_if_archived

if TYPE_CHECKING:
    from ..entities import Channel, Guild, Json, User


@route("POST", "/channels/{channel_id}/threads", status=201)
def start_thread(call: Call) -> Answer:
    """Create a thread without a first message, or a forum post with one."""
    parent = call.channel()
    body = call.body
    world = call.world
    if parent.kind is ChannelKind.FORUM:
        return _start_post(call, parent)
    if parent.kind not in {ChannelKind.TEXT, ChannelKind.ANNOUNCEMENT}:
        raise Refusal(50024)
    private = body.get("type", ChannelKind.PRIVATE_THREAD) == ChannelKind.PRIVATE_THREAD
    call.require("create_private_threads" if private else "create_public_threads", parent)
    refuse(length_faults(body, "name", 100, least=1))
    thread = _configure(call, world.thread(parent, body["name"], world.bot, private=private))
    if not private:
        notice = speech.Draft(content=thread.name)
        speech.post(
            world, parent, speech.Sender(world.bot), notice, kind=MessageKind.THREAD_CREATED
        )
    return _with_member(call, thread)


def _start_post(call: Call, forum: Channel) -> Answer:
    world, body = call.world, call.body
    call.require("send_messages", forum)
    refuse(length_faults(body, "name", 100, least=1))
    if forum.requires_tag and not body.get("applied_tags"):
        raise Refusal(40067)
    draft = new_draft(call, body["message"], forum)
    thread = _configure(call, world.thread(forum, body["name"], world.bot))
    assert thread.thread
    thread.thread.applied_tags = [int(tag) for tag in body.get("applied_tags") or []]
    message = speech.post(world, thread, speech.Sender(world.bot), draft)
    return _with_member(call, thread) | {"message": payloads.message(message, world)}


@route("POST", "/channels/{channel_id}/messages/{message_id}/threads", status=201)
def start_thread_from_message(call: Call) -> Answer:
    parent = call.channel()
    world = call.world
    call.require("create_public_threads", parent)
    message = call.message(parent)
    refuse(length_faults(call.body, "name", 100, least=1))
    if message.thread:
        raise Refusal(160004)
    thread = world.thread(parent, call.body["name"], world.bot, starter=message)
    return _with_member(call, _configure(call, thread))


def _configure(call: Call, thread: Channel) -> Channel:
    assert thread.thread
    thread.thread.auto_archive_duration = call.body.get("auto_archive_duration") or 1440
    thread.thread.invitable = call.body.get("invitable", True)
    thread.slowmode = call.body.get("rate_limit_per_user") or 0
    return thread


def _with_member(call: Call, thread: Channel) -> Json:
    return payloads.channel(thread) | {"member": payloads.thread_member(thread, call.world.bot.id)}


MEMBERS = "/channels/{channel_id}/thread-members"


@route("GET", MEMBERS)
def list_thread_members(call: Call) -> Answer:
    thread = _thread(call)
    assert thread.thread
    return [payloads.thread_member(thread, each) for each in thread.thread.members]


@route("GET", MEMBERS + "/{user_id}")
def get_thread_member(call: Call) -> Answer:
    thread = _thread(call)
    user_id = call.number("user_id")
    assert thread.thread
    if user_id not in thread.thread.members:
        raise Refusal(10007)
    return payloads.thread_member(thread, user_id)


@route("PUT", MEMBERS + "/@me")
def join_thread(call: Call) -> Answer:
    return _join(call, call.world.bot)


@route("DELETE", MEMBERS + "/@me")
def leave_thread(call: Call) -> Answer:
    return _leave(call, call.world.bot)


@route("PUT", MEMBERS + "/{user_id}")
def add_thread_member(call: Call) -> Answer:
    user = _user(call)
    if not call.world.may(user, "view_channel", _thread(call).parent or _thread(call)):
        raise Refusal(50001)
    return _join(call, user)


@route("DELETE", MEMBERS + "/{user_id}")
def remove_thread_member(call: Call) -> Answer:
    call.require("manage_threads", _thread(call))
    return _leave(call, _user(call))


def _thread(call: Call) -> Channel:
    thread = call.channel()
    if thread.kind not in THREADS:
        raise Refusal(50024)
    call.require("view_channel", thread)
    return thread


def _user(call: Call) -> User:
    guild = _thread(call).guild
    member = guild.members.get(call.number("user_id")) if guild else None
    if member is None:
        raise Refusal(10007)
    return member.user


def _join(call: Call, user: User) -> Answer:
    thread = _thread(call)
    refuse_if_archived(thread)
    assert thread.thread
    if user.id not in thread.thread.members:
        thread.thread.members.add(user.id)
        call.world.thread_members_changed(thread, added=user)
    return None


def _leave(call: Call, user: User) -> Answer:
    thread = _thread(call)
    refuse_if_archived(thread)
    assert thread.thread
    thread.thread.members.discard(user.id)
    call.world.thread_members_changed(thread, removed=user)
    return None


@route("GET", "/guilds/{guild_id}/threads/active")
def list_active_threads(call: Call) -> Answer:
    return _list(call, _threads(call, call.guild(), archived=False)) | {"has_more": False}


@route("GET", "/channels/{channel_id}/threads/archived/public")
def list_archived_threads(call: Call) -> Answer:
    parent = call.channel()
    call.require("read_message_history", parent)
    assert parent.guild
    there = [each for each in _threads(call, parent.guild, archived=True) if each.parent is parent]
    return _list(call, there) | {"has_more": False}


def _threads(call: Call, guild: Guild, *, archived: bool) -> list[Channel]:
    threads = [
        each for each in guild.channels.values() if each.thread and each.thread.archived is archived
    ]
    return [each for each in threads if call.world.may(call.world.bot, "view_channel", each)]


def _list(call: Call, threads: list[Channel]) -> Json:
    bot = call.world.bot.id
    mine = [each for each in threads if each.thread and bot in each.thread.members]
    return {
        "threads": [payloads.channel(each) for each in threads],
        "members": [payloads.thread_member(each, bot) for each in mine],
    }
