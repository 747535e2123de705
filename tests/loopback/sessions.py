"""Gateway sessions: the events a bot gets, given its intents and permissions."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import payloads

if TYPE_CHECKING:
    import asyncio

    from .conversation import DiscordMessage
    from .entities import Guild, Json
    from .world import Event, World

INTENTS = {  # event: (its intent's bit on a server, its intent's bit in DMs)
    "GUILD_CREATE": (0, None),
    "GUILD_UPDATE": (0, None),
    "GUILD_DELETE": (0, None),
    "GUILD_ROLE_CREATE": (0, None),
    "GUILD_ROLE_UPDATE": (0, None),
    "GUILD_ROLE_DELETE": (0, None),
    "CHANNEL_CREATE": (0, None),
    "CHANNEL_UPDATE": (0, None),
    "CHANNEL_DELETE": (0, None),
    "THREAD_CREATE": (0, None),
    "THREAD_UPDATE": (0, None),
    "THREAD_DELETE": (0, None),
    "THREAD_LIST_SYNC": (0, None),
    "THREAD_MEMBERS_UPDATE": (0, None),
    "GUILD_MEMBER_ADD": (1, None),
    "GUILD_MEMBER_UPDATE": (1, None),
    "GUILD_MEMBER_REMOVE": (1, None),
    "WEBHOOKS_UPDATE": (5, None),
    "MESSAGE_CREATE": (9, 12),
    "MESSAGE_UPDATE": (9, 12),
    "MESSAGE_DELETE": (9, 12),
    "MESSAGE_DELETE_BULK": (9, 12),
    "CHANNEL_PINS_UPDATE": (0, 12),
    "MESSAGE_REACTION_ADD": (10, 13),
    "MESSAGE_REACTION_REMOVE": (10, 13),
    "TYPING_START": (11, 14),
    "INTERACTION_CREATE": (None, None),  # None: needs no intent
}
MEMBERS, PRESENCES, CONTENT = 1 << 1, 1 << 8, 1 << 15
# The bot gets these even if it cannot see the channel.
ALWAYS_SEEN = {
    "INTERACTION_CREATE",
    "CHANNEL_CREATE",
    "CHANNEL_UPDATE",
    "CHANNEL_DELETE",
    "WEBHOOKS_UPDATE",
}


@dataclass(slots=True)
class Session:
    """The events sent to one identified bot, kept so that it can resume.

    `outbox` is None while the bot is disconnected.
    """

    id: str
    intents: int
    shard: tuple[int, int] = (0, 1)
    sequence: int = 0
    sent: deque[Json] = field(default_factory=lambda: deque(maxlen=1000))
    outbox: asyncio.Queue[Json | None] | None = None

    def send_event(self, name: str, data: Json) -> None:
        """Send an event now, or keep it until the bot resumes."""
        self.sequence += 1
        packet: Json = {"op": 0, "t": name, "s": self.sequence, "d": data}
        self.sent.append(packet)
        if self.outbox is not None:
            self.outbox.put_nowait(packet)

    def send(self, op: int, data: Any = None) -> None:
        """Send a packet that is not an event."""
        if self.outbox is not None:
            self.outbox.put_nowait({"op": op, "d": data, "t": None, "s": None})

    def receives(self, event: Event, world: World) -> bool:
        """Return whether this session's intents and permissions include `event`."""
        if event.guild and (event.guild.id >> 22) % self.shard[1] != self.shard[0]:
            return False
        if not event.guild and self.shard[0] != 0:
            return False
        on_server, in_dms = INTENTS[event.name]
        bit = on_server if event.guild else in_dms
        own = event.name == "GUILD_MEMBER_UPDATE" and event.data["user"]["id"] == str(world.bot.id)
        if bit is not None and not self.intents & 1 << bit and not own:
            return False
        is_interaction = event.name == "INTERACTION_CREATE"  # a server may have commands only
        if event.guild and not is_interaction and world.bot.id not in event.guild.members:
            return False
        return (
            not event.channel
            or event.name in ALWAYS_SEEN
            or world.may(world.bot, "view_channel", event.channel)
        )

    def payload(self, event: Event, world: World) -> Json:
        """Return the event's data as this session may read it."""
        if event.message is None:
            if event.name == "GUILD_CREATE" and event.guild:
                return self.guild(event.guild, world) | event.data
            return event.data
        message = event.message
        readable = bool(self.intents & CONTENT) or is_free(message, world)
        data = payloads.message(message, world, readable=readable)
        if message.channel.guild:
            data["guild_id"] = str(message.channel.guild.id)
            author = message.channel.guild.members.get(message.author.id)
            if author and message.webhook is None:
                data["member"] = payloads.member(author, with_user=False)
        return data

    def guild(self, guild: Guild, world: World) -> Json:
        """Return a server's data. Without the members intent, the bot is its only member."""
        data = payloads.guild(guild, world)
        if not self.intents & MEMBERS:
            data["members"] = [
                each for each in data["members"] if each["user"]["id"] == str(world.bot.id)
            ]
        return data


def is_free(message: DiscordMessage, world: World) -> bool:
    """Return whether a bot may read this message without the message content intent."""
    own = message.author is world.bot and message.webhook is None
    return own or message.channel.is_dm or world.bot in message.mentions


def members_chunk(guild: Guild, asked: Json) -> Json:
    """Return the answer to a request for members by ids or by the beginning of a name."""
    wanted = {str(each) for each in _as_list(asked.get("user_ids"))}
    query = str(asked.get("query") or "").lower()
    found = [each for each in guild.members.values() if not wanted or str(each.user.id) in wanted]
    found = [
        each
        for each in found
        if each.shown_name.lower().startswith(query) or each.user.name.startswith(query)
    ]
    limit = int(asked.get("limit") or 0) or len(found)
    known = {str(each.user.id) for each in found}
    data: Json = {
        "guild_id": str(guild.id),
        "members": [payloads.member(each) for each in found[:limit]],
    }
    data |= {
        "chunk_index": 0,
        "chunk_count": 1,
        "not_found": sorted(wanted - known),
        "presences": [],
    }
    return data | ({"nonce": asked["nonce"]} if "nonce" in asked else {})


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
