"""Servers, people and places. Plain state: `world.py` changes it, `payloads/` writes it as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .conversation import DiscordMessage

Json = dict[str, Any]


class ChannelKind(IntEnum):
    """The channel types of Discord that the loopback knows."""

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
    """The intents that must be enabled in the developer portal."""

    MEMBERS = "members"
    PRESENCES = "presences"
    CONTENT = "message_content"


class Named:
    """An object that failing tests show by its name."""

    __slots__ = ()
    name: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


@dataclass(eq=False, slots=True, repr=False)
class User(Named):
    """An account: a person or a bot."""

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
class DiscordRole(Named):
    """A role of a guild. The role with the guild's own id is @everyone."""

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
    roles: list[DiscordRole] = field(default_factory=list)
    nick: str | None = None
    timed_out_until: float | None = None

    @property
    def shown_name(self) -> str:
        return self.nick or self.user.display_name

    def __repr__(self) -> str:
        return f"<Member {self.shown_name} of {self.guild.name}>"


@dataclass(slots=True)
class Overwrite:
    """The permissions that a channel allows or denies to a role (kind 0) or a member (kind 1)."""

    id: int
    kind: int
    allow: int = 0
    deny: int = 0


@dataclass(slots=True)
class ThreadState:
    """The state that only threads have."""

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
    """A text channel, forum, thread, category or DM. A forum contains only threads."""

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
    history: list[DiscordMessage] = field(
        default_factory=list
    )  # deleted and ephemeral messages included
    titles: list[str] = field(default_factory=list)  # every name and topic that it ever had

    @property
    def messages(self) -> list[DiscordMessage]:
        """The messages that everyone can see now, oldest first."""
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
    roles: dict[int, DiscordRole] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)  # threads included

    @property
    def everyone(self) -> DiscordRole:
        return self.roles[self.id]
