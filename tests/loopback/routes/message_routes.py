"""The bot's own messages, and reading a channel's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import payloads, speech
from ..clock import iso
from ..conversation import MessageKind
from ..entities import ChannelKind, Privileged
from ..refusals import Refusal
from ..router import Answer, Call, route
from ..sessions import is_free
from ..world import Event
from .drafts import edited_draft, new_draft, replied_to

if TYPE_CHECKING:
    from ..conversation import DiscordMessage
    from ..entities import Channel, Json
    from ..world import World

SILENT = (ChannelKind.FORUM, ChannelKind.CATEGORY)


@route("POST", "/channels/{channel_id}/messages")
def create_message(call: Call) -> Answer:
    channel = call.channel()
    world = call.world
    if channel.kind in SILENT:
        raise Refusal(50008)
    check_dm(world, channel)
    call.require("view_channel send_messages", channel)
    check_thread(world, channel)
    draft = new_draft(call, call.body, channel, reply_to=replied_to(call, call.body, channel))
    if draft.embeds:
        call.require("embed_links", channel)
    if draft.attachments:
        call.require("attach_files", channel)
    if call.body.get("enforce_nonce") and (already := _with_nonce(channel, world, draft.nonce)):
        return payloads.message(already, world)
    return payloads.message(speech.post(world, channel, speech.Sender(world.bot), draft), world)


def check_dm(world: World, channel: Channel) -> None:
    """Refuse to write to a person who has closed their DMs or shares no server with the bot."""
    for reader in channel.recipients:
        if reader is world.bot:
            continue
        if not any(
            {reader.id, world.bot.id} <= guild.members.keys() for guild in world.guilds.values()
        ):
            raise Refusal(50278)
        if not reader.dms_open:
            raise Refusal(50007)


def check_thread(world: World, channel: Channel) -> None:
    """Refuse to write to a locked thread. Reopen an archived one."""
    state = channel.thread
    if state is None:
        return
    if state.locked and not world.may(world.bot, "manage_threads", channel):
        raise Refusal(50083 if state.archived else 160005)
    if state.archived:
        state.archived = False
        world.channel_changed(channel)


def refuse_if_archived(channel: Channel) -> None:
    """Refuse every change in an archived thread."""
    if channel.thread and channel.thread.archived:
        raise Refusal(50083)


def _with_nonce(channel: Channel, world: World, nonce: str | None) -> DiscordMessage | None:
    mine = [each for each in channel.messages if each.author is world.bot and each.nonce == nonce]
    return mine[-1] if mine and nonce is not None else None


@route("GET", "/channels/{channel_id}/messages")
def list_messages(call: Call) -> Answer:
    channel = call.channel()
    query = call.query
    call.require("view_channel", channel)
    if not call.world.may(call.world.bot, "read_message_history", channel):
        return []
    found = channel.messages
    limit = int(query.get("limit", 50))
    if "after" in query:
        found = [each for each in found if each.id > int(query["after"])][:limit]
    elif "around" in query:
        at = sum(each.id < int(query["around"]) for each in found)
        found = found[max(0, at - limit // 2) : at + limit // 2 + 1]
    else:
        found = [each for each in found if each.id < int(query.get("before", 1 << 63))][-limit:]
    return [readable_payload(each, call.world) for each in reversed(found)]


@route("GET", "/channels/{channel_id}/messages/{message_id}")
def get_message(call: Call) -> Answer:
    channel = call.channel()
    call.require("view_channel read_message_history", channel)
    return readable_payload(call.message(channel), call.world)


def readable_payload(message: DiscordMessage, world: World) -> Json:
    """Return a message as the bot may fetch it.

    The intent in the portal counts, not the intents of the connection.
    """
    return payloads.message(
        message, world, readable=Privileged.CONTENT in world.portal or is_free(message, world)
    )


@route("PATCH", "/channels/{channel_id}/messages/{message_id}")
def edit_message(call: Call) -> Answer:
    channel = call.channel()
    world = call.world
    call.require("view_channel", channel)
    message = call.message(channel)
    if message.author is not world.bot or message.webhook:
        raise Refusal(50005)
    refuse_if_archived(channel)
    speech.edit(world, message, edited_draft(call, call.body, message))
    return payloads.message(message, world)


@route("DELETE", "/channels/{channel_id}/messages/{message_id}")
def delete_message(call: Call) -> Answer:
    channel = call.channel()
    world = call.world
    message = call.message(channel)
    if message.author is not world.bot or message.webhook:
        if channel.is_dm:
            raise Refusal(50013)
        call.require("manage_messages", channel)
    refuse_if_archived(channel)
    speech.delete(world, message)
    return None


@route("POST", "/channels/{channel_id}/messages/bulk-delete")
def delete_messages(call: Call) -> Answer:
    channel = call.channel()
    world = call.world
    call.require("manage_messages", channel)
    ids = [int(each) for each in call.body["messages"]]
    for message in [each for each in channel.messages if each.id in ids]:
        message.deleted = True
    data: Json = {"ids": [str(each) for each in ids], "channel_id": str(channel.id)}
    if channel.guild:
        data["guild_id"] = str(channel.guild.id)
    world.announce(Event("MESSAGE_DELETE_BULK", data, channel.guild, channel))
    return None


@route("PUT", "/channels/{channel_id}/messages/pins/{message_id}")
def pin_message(call: Call) -> Answer:
    channel = call.channel()
    world = call.world
    call.require("pin_messages", channel)
    message = call.message(channel)
    message.pinned = True
    speech.announce_change(world, message)
    notice = speech.Draft(reply_to=message)
    speech.post(world, channel, speech.Sender(world.bot), notice, kind=MessageKind.PIN)
    return None


@route("DELETE", "/channels/{channel_id}/messages/pins/{message_id}")
def unpin_message(call: Call) -> Answer:
    channel = call.channel()
    call.require("pin_messages", channel)
    message = call.message(channel)
    message.pinned = False
    speech.announce_change(call.world, message)
    return None


@route("GET", "/channels/{channel_id}/messages/pins")
def list_pins(call: Call) -> Answer:
    channel = call.channel()
    call.require("view_channel", channel)
    pins = [each for each in channel.messages if each.pinned]
    items = [
        {"pinned_at": iso(each.now.at), "message": readable_payload(each, call.world)}
        for each in pins
    ]
    return {"items": items, "has_more": False}
