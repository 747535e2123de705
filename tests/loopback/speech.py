"""Posting, editing and deleting messages, and their mentions."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .computed_permissions import bits, in_channel
from .conversation import (
    EPHEMERAL,
    LOADING,
    DiscordMessage,
    MessageKind,
    MessageState,
    walk_components,
)
from .world import Event

if TYPE_CHECKING:
    from .conversation import Interaction, Webhook
    from .entities import Channel, Json, User
    from .world import World

USER_MENTION = re.compile(r"<@!?(\d+)>")
ROLE_MENTION = re.compile(r"<@&(\d+)>")
EVERYONE_MENTION = re.compile(r"@(everyone|here)\b")


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a message before it is posted."""

    content: str = ""
    embeds: tuple[Json, ...] = ()
    components: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    flags: int = 0
    allowed_mentions: Json | None = None  # None: everything that the text mentions
    reply_to: DiscordMessage | None = None
    nonce: str | None = None
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sender:
    """The account and, for webhooks, the name that a message is posted under."""

    user: User
    name: str = ""  # the displayed name of a webhook's message
    avatar_url: str | None = None
    webhook: Webhook | None = None
    interaction: Interaction | None = None


def post(
    world: World,
    channel: Channel,
    sender: Sender,
    draft: Draft,
    *,
    kind: MessageKind | None = None,
    only_for: User | None = None,
) -> DiscordMessage:
    """Post a message and send the event. An ephemeral message has no event."""
    flags = draft.flags | (EPHEMERAL if only_for else 0)
    message = DiscordMessage(
        world.clock.snowflake(),
        channel,
        sender.user,
        sender.name or sender.user.display_name,
        [_state(world, draft, flags)],
        kind if kind is not None else MessageKind.REPLY if draft.reply_to else MessageKind.DEFAULT,
        sender.webhook,
        sender.avatar_url,
        draft.reply_to,
        sender.interaction,
        only_for,
        nonce=draft.nonce,
        extra=draft.extra,
    )
    _mention(world, message, draft.allowed_mentions)
    channel.history.append(message)
    world.messages[message.id] = message
    if channel.thread:
        channel.thread.members |= set() if sender.webhook or only_for else {sender.user.id}
    _announce(world, message, "MESSAGE_CREATE")
    return message


def edit(world: World, message: DiscordMessage, draft: Draft) -> None:
    """Give a message a new state. Its pings stay, since an edit notifies no one."""
    message.states.append(_state(world, draft, draft.flags))
    pings = set(message.pings)
    _mention(world, message, draft.allowed_mentions)
    message.pings = pings
    _announce(world, message, "MESSAGE_UPDATE")


def finish_thinking(world: World, message: DiscordMessage, draft: Draft) -> None:
    """Replace "… is thinking" by the real answer. Unlike an edit, it can ping."""
    flags = draft.flags & ~LOADING | (message.now.flags & EPHEMERAL)
    message.states[-1] = replace(_state(world, draft, flags), at=message.now.at)
    _mention(world, message, draft.allowed_mentions)
    _announce(world, message, "MESSAGE_UPDATE")


def delete(world: World, message: DiscordMessage) -> None:
    """Delete a message. Its states remain available to the test."""
    message.deleted = True
    if message.only_for is None:
        data: Json = {"id": str(message.id), "channel_id": str(message.channel.id)}
        if message.channel.guild:
            data["guild_id"] = str(message.channel.guild.id)
        world.announce(Event("MESSAGE_DELETE", data, message.channel.guild, message.channel))


def announce_change(world: World, message: DiscordMessage) -> None:
    """Send the event for a change that people did not write: a pin or a link preview."""
    _announce(world, message, "MESSAGE_UPDATE")


def _state(world: World, draft: Draft, flags: int) -> MessageState:
    embeds = tuple({"type": "rich", **embed} for embed in draft.embeds)
    components = _number_components(draft.components)
    return MessageState(
        draft.content.strip(), world.clock.now(), embeds, components, draft.attachments, flags
    )


def _number_components(components: tuple[Json, ...]) -> tuple[Json, ...]:
    """Return components as Discord stores them: numbered, without the parts of forms."""
    components = copy.deepcopy(components)
    for number, part in enumerate(walk_components(components), start=1):
        part["id"] = part.get("id") or number
        part.pop("required", None)
    return components


def _announce(world: World, message: DiscordMessage, name: str) -> None:
    if message.only_for is None:
        world.announce(Event(name, {}, message.channel.guild, message.channel, message))


def _mention(world: World, message: DiscordMessage, allowed: Json | None) -> None:
    """Determine whom the message mentions, within its own limits and its author's permissions."""
    guild, content = message.channel.guild, message.content
    parse = {"everyone", "users", "roles"} if allowed is None else set(allowed.get("parse") or [])
    users = {int(each) for each in (allowed or {}).get("users") or []}
    roles = {int(each) for each in (allowed or {}).get("roles") or []}
    named = [int(each) for each in USER_MENTION.findall(content)]
    message.mentions = [world.users[each] for each in dict.fromkeys(named) if each in world.users]
    message.mentions = [who for who in message.mentions if "users" in parse or who.id in users]
    may_ping_all = _may_ping_all(world, message)
    message.mention_everyone = bool(
        "everyone" in parse and may_ping_all and EVERYONE_MENTION.search(content)
    )
    message.mention_roles = []
    if guild:
        named = [int(each) for each in ROLE_MENTION.findall(content)]
        found = [guild.roles[each] for each in dict.fromkeys(named) if each in guild.roles]
        heard = [role for role in found if role.mentionable or may_ping_all]
        message.mention_roles = [role for role in heard if "roles" in parse or role.id in roles]
    if message.reply_to and (allowed is None or allowed.get("replied_user", True)):
        author = message.reply_to.author
        if message.reply_to.webhook is None and author not in message.mentions:
            message.mentions.append(author)
    message.pings = {str(each.id) for each in message.mentions} | {
        str(each.id) for each in message.mention_roles
    }
    message.pings |= {"everyone"} if message.mention_everyone else set()


def _may_ping_all(world: World, message: DiscordMessage) -> bool:
    if message.webhook:
        return True
    return bool(
        in_channel(message.author, message.channel, world.clock.now()) & bits("mention_everyone")
    )
