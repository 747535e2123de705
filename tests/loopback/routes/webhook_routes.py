"""Webhooks and their messages. In a thread, every request needs the thread's id in its query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import payloads, speech
from ..entities import THREADS, Channel, ChannelKind
from ..refusals import Refusal
from ..router import Answer, Call, route
from ..rules import length_faults, refuse
from ..rules.message_rules import check_webhook_name
from .drafts import edited_draft, new_draft
from .message_routes import refuse_if_archived

if TYPE_CHECKING:
    from ..conversation import DiscordMessage, Webhook

MOST_IN_A_CHANNEL = 15
CAN_HAVE = (ChannelKind.TEXT, ChannelKind.ANNOUNCEMENT, ChannelKind.VOICE, ChannelKind.FORUM)
WITH_TOKEN = "/webhooks/{webhook_id}/{webhook_token}"


@route("POST", "/channels/{channel_id}/webhooks")
def create_webhook(call: Call) -> Answer:
    channel = call.channel()
    world = call.world
    if channel.kind not in CAN_HAVE:
        raise Refusal(50024)
    call.require("manage_webhooks", channel)
    check_webhook_name(call.body)
    if len(_of(call, channel)) >= MOST_IN_A_CHANNEL:
        raise Refusal(30007)
    avatar = "uploaded" if call.body.get("avatar") else None
    return payloads.webhook(
        world.webhook(channel, call.body["name"], world.bot, avatar), world.bot.id
    )


def _of(call: Call, channel: Channel) -> list[Webhook]:
    return [each for each in call.world.webhooks.values() if each.channel is channel]


@route("GET", "/channels/{channel_id}/webhooks")
def list_webhooks(call: Call) -> Answer:
    channel = call.channel()
    if channel.kind not in CAN_HAVE:
        raise Refusal(50024)
    call.require("manage_webhooks", channel)
    return [payloads.webhook(each, call.world.bot.id) for each in _of(call, channel)]


@route("GET", "/guilds/{guild_id}/webhooks")
def list_guild_webhooks(call: Call) -> Answer:
    call.need_in_guild("manage_webhooks")
    there = [each for each in call.world.webhooks.values() if each.channel.guild is call.guild()]
    return [payloads.webhook(each, call.world.bot.id) for each in there]


@route("GET", "/webhooks/{webhook_id}")
def get_webhook(call: Call) -> Answer:
    webhook = call.webhook()
    call.require("manage_webhooks", webhook.channel)
    return payloads.webhook(webhook, call.world.bot.id)


@route("GET", WITH_TOKEN, needs_token=False)
def get_webhook_by_token(call: Call) -> Answer:
    data = payloads.webhook(call.webhook(), call.world.bot.id)
    del data["user"]
    return data


@route("PATCH", "/webhooks/{webhook_id}")
def edit_webhook(call: Call) -> Answer:
    call.require("manage_webhooks", call.webhook().channel)
    return _edit(call)


@route("PATCH", WITH_TOKEN, needs_token=False)
def edit_webhook_by_token(call: Call) -> Answer:
    return _edit(call)


def _edit(call: Call) -> Answer:
    webhook = call.webhook()
    body = call.body
    check_webhook_name(body, required=False)
    webhook.name = body.get("name") or webhook.name
    if "avatar" in body:
        webhook.avatar = "uploaded" if body["avatar"] else None
    if body.get("channel_id"):
        webhook.channel = call.world.channels[int(body["channel_id"])]
    call.world.webhooks_changed(webhook.channel)
    return payloads.webhook(webhook, call.world.bot.id)


@route("DELETE", "/webhooks/{webhook_id}")
def delete_webhook(call: Call) -> Answer:
    call.require("manage_webhooks", call.webhook().channel)
    call.world.delete_webhook(call.webhook())
    return None


@route("DELETE", WITH_TOKEN, needs_token=False)
def delete_webhook_by_token(call: Call) -> Answer:
    call.world.delete_webhook(call.webhook())
    return None


@route("POST", WITH_TOKEN, needs_token=False)
def execute_webhook(call: Call) -> Answer:
    webhook = call.webhook()
    world = call.world
    body = call.body
    check_webhook_name(body, "username", required=False)
    channel = _place(call, webhook)
    draft = new_draft(call, body, channel or webhook.channel)
    channel = channel or _new_post(call, webhook)
    _wake(call, channel)
    sender = speech.Sender(
        webhook.creator, body.get("username") or webhook.name, body.get("avatar_url"), webhook
    )
    message = speech.post(world, channel, sender, draft)
    return payloads.message(message, world) if _is_true(call.query.get("wait")) else None


def _is_true(text: str | None) -> bool:
    return text in {"1", "true", "True"}


def _place(call: Call, webhook: Webhook) -> Channel | None:
    """Return the channel of a new webhook message, or None if it needs a new forum post."""
    thread_id = call.query.get("thread_id")
    name = call.body.get("thread_name")
    if webhook.channel.kind is ChannelKind.FORUM:
        if not thread_id and not name:
            raise Refusal(220001)
        if thread_id and name:
            raise Refusal(220002)
    elif name:
        raise Refusal(220003)
    if thread_id:
        return _thread(call, webhook, thread_id)
    return None if name else webhook.channel


def _thread(call: Call, webhook: Webhook, thread_id: str) -> Channel:
    thread = call.world.channels.get(int(thread_id))
    if thread is None or thread.kind not in THREADS or thread.parent is not webhook.channel:
        raise Refusal(10003)
    return thread


def _new_post(call: Call, webhook: Webhook) -> Channel:
    refuse(length_faults(call.body, "thread_name", 100, least=1))
    return call.world.thread(webhook.channel, call.body["thread_name"], webhook.creator)


def _wake(call: Call, channel: Channel) -> None:
    """Reopen an archived thread, as a webhook's message does, unless it is locked."""
    if channel.thread and channel.thread.archived:
        if channel.thread.locked:
            raise Refusal(50083)
        channel.thread.archived = False
        call.world.channel_changed(channel)


ONE_MESSAGE = WITH_TOKEN + "/messages/{message_id}"


def _own_message(call: Call) -> DiscordMessage:
    """Return a message of this webhook. The query must name its thread."""
    webhook = call.webhook()
    thread_id = call.query.get("thread_id")
    message = call.message(_thread(call, webhook, thread_id) if thread_id else webhook.channel)
    if message.webhook is None or message.webhook.id != webhook.id:
        raise Refusal(10008)
    return message


@route("GET", ONE_MESSAGE, needs_token=False)
def get_webhook_message(call: Call) -> Answer:
    return payloads.message(_own_message(call), call.world)


@route("PATCH", ONE_MESSAGE, needs_token=False)
def edit_webhook_message(call: Call) -> Answer:
    message = _own_message(call)
    refuse_if_archived(message.channel)
    speech.edit(call.world, message, edited_draft(call, call.body, message))
    return payloads.message(message, call.world)


@route("DELETE", ONE_MESSAGE, needs_token=False)
def delete_webhook_message(call: Call) -> Answer:
    message = _own_message(call)
    refuse_if_archived(message.channel)
    speech.delete(call.world, message)
    return None
