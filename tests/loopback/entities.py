"""Servers, people, places. Plain state without rules: `world.py` changes it, `payloads/` writes it as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .conversation import Message

Json = dict[str, Any]


class ChannelKind(IntEnum):
    """Discord's channel types, as far as the loopback knows them."""

    TEXT = 0
    DM = 1
    VOICE = 2
    CATEGORY = 4
    ANNOUNCEMENT = 5
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


THREADS = (ChannelKind.PUBLIC_THREAD, ChannelKind.PRIVATE_THREAD)


class Privileged(StrEnum):
    """The intents that must be switched on in the developer portal."""

    MEMBERS = "members"
    PRESENCES = "presences"
    CONTENT = "message_content"


class Named:
    """Something that a failing test should call by its name."""

    __slots__ = ()
    name: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


@dataclass(eq=False, slots=True, repr=False)
class User(Named):
    """Somebody with an account: a person or the bot."""

    id: int
    name: str
    display_name: str
    bot: bool = False
    avatar: str | None = None
    locale: str = "en-US"
    dms_open: bool = True

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"


@dataclass(eq=False, slots=True, repr=False)
class Role(Named):
    """A role of a guild. The one with the guild's own id is @everyone."""

    id: int
    guild: Guild
    name: str
    permissions: int = 0
    position: int = 1
    mentionable: bool = False
    hoist: bool = False
    color: int = 0
    managed_by: User | None = None

    @property
    def mention(self) -> str:
        return f"<@&{self.id}>"


@dataclass(eq=False, slots=True, repr=False)
class Member:
    """A user in a guild."""

    user: User
    guild: Guild
    joined_at: float
    roles: list[Role] = field(default_factory=list)
    nick: str | None = None
    timed_out_until: float | None = None

    @property
    def shown_name(self) -> str:
        return self.nick or self.user.display_name

    def __repr__(self) -> str:
        return f"<Member {self.shown_name} of {self.guild.name}>"


@dataclass(slots=True)
class Overwrite:
    """What one role (kind 0) or member (kind 1) may and may not do in one channel."""

    id: int
    kind: int
    allow: int = 0
    deny: int = 0


@dataclass(slots=True)
class ThreadState:
    """What only threads have."""

    owner_id: int
    members: set[int] = field(default_factory=set)
    archived: bool = False
    locked: bool = False
    invitable: bool = True
    auto_archive_duration: int = 1440
    changed_at: float = 0.0
    applied_tags: list[int] = field(default_factory=list)


@dataclass(eq=False, slots=True, repr=False)
class Channel(Named):
    """A place for messages: text channel, forum, thread, DM. A forum holds threads only, a category channels."""

    id: int
    kind: ChannelKind
    name: str
    guild: Guild | None = None
    parent: Channel | None = None
    topic: str | None = None
    nsfw: bool = False
    position: int = 0
    slowmode: int = 0
    overwrites: dict[int, Overwrite] = field(default_factory=dict)
    recipients: list[User] = field(default_factory=list)
    thread: ThreadState | None = None
    tags: list[Json] = field(default_factory=list)
    requires_tag: bool = False  # a forum in which each post needs a tag
    history: list[Message] = field(default_factory=list)  # deleted and ephemeral ones too
    titles: list[str] = field(default_factory=list)  # every name and topic it ever had

    @property
    def messages(self) -> list[Message]:
        """What stands there now for everybody, oldest first."""
        return [
            message for message in self.history if not message.deleted and message.only_for is None
        ]

    @property
    def mention(self) -> str:
        return f"<#{self.id}>"

    @property
    def is_dm(self) -> bool:
        return self.kind is ChannelKind.DM


@dataclass(eq=False, slots=True, repr=False)
class Guild(Named):
    """A server."""

    id: int
    name: str
    owner: User
    locale: str = "en-US"
    roles: dict[int, Role] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)  # threads too

    @property
    def everyone(self) -> Role:
        return self.roles[self.id]
