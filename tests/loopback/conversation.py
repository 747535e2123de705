"""What is said: messages with their past, webhooks, commands, interactions. Plain state, as in `entities.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from .entities import Named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .entities import Channel, Guild, Json, Role, User

EPHEMERAL = 1 << 6  # message flags
LOADING = 1 << 7
COMPONENTS_V2 = 1 << 15


class MessageKind(IntEnum):
    """Discord's message types that matter to bots: people's own words, and the notices that are nobody's words."""

    DEFAULT = 0
    PIN = 6
    THREAD_CREATED = 18
    REPLY = 19
    CHAT_COMMAND = 20
    CONTEXT_COMMAND = 23


class InteractionKind(IntEnum):
    """What a person did that an application must answer."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


@dataclass(eq=False, slots=True, repr=False)
class Webhook(Named):
    """A door through which messages enter a channel under any name."""

    id: int
    token: str
    channel: Channel
    name: str
    creator: User
    avatar: str | None = None


@dataclass(frozen=True, slots=True)
class MessageState:
    """What a message said at one time. Every state it ever had is kept."""

    content: str
    at: float
    embeds: tuple[Json, ...] = ()
    components: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    flags: int = 0

    def texts(self) -> Iterator[str]:
        """Every text in it that a person could read."""
        yield self.content
        for part in (*self.embeds, *self.components, *self.attachments):
            yield from strings(part)


@dataclass(eq=False, slots=True, repr=False)
class Message:
    """A message with its past. `author` is the account that sent it; for a webhook's, `name` is what people see."""

    id: int
    channel: Channel
    author: User
    name: str
    states: list[MessageState]
    kind: MessageKind = MessageKind.DEFAULT
    webhook: Webhook | None = None
    avatar_url: str | None = None
    reply_to: Message | None = None
    interaction: Interaction | None = None
    only_for: User | None = None  # an ephemeral message's only reader
    mentions: list[User] = field(default_factory=list)
    mention_roles: list[Role] = field(default_factory=list)
    mention_everyone: bool = False
    pings: set[str] = field(
        default_factory=set
    )  # "everyone" and the ids whose phones rang, reply pings too
    nonce: str | None = None
    deleted: bool = False
    pinned: bool = False
    thread: Channel | None = None
    reactions: dict[str, list[User]] = field(default_factory=dict)
    extra: Json = field(
        default_factory=dict
    )  # what the loopback only carries: stickers, a forward's snapshot

    @property
    def now(self) -> MessageState:
        return self.states[-1]

    @property
    def content(self) -> str:
        return self.now.content

    @property
    def ephemeral(self) -> bool:
        return self.only_for is not None

    @property
    def thinking(self) -> bool:
        """True while a deferred answer shows nothing but "… is thinking"."""
        return bool(self.now.flags & LOADING)

    @property
    def labels(self) -> list[str]:
        """What its buttons say, in order."""
        return [part["label"] for part in walk_components(self.now.components) if part.get("label")]

    def ever(self) -> Iterator[str]:
        """Every text it ever showed, in any of its states."""
        yield self.name
        for state in self.states:
            yield from state.texts()

    def files(self) -> set[int]:
        """The ids of all files that were ever attached to it."""
        return {int(attached["id"]) for state in self.states for attached in state.attachments}

    def __repr__(self) -> str:
        return f"<{self.name} in {self.channel.name}: {self.content!r}{' (deleted)' if self.deleted else ''}>"


@dataclass(eq=False, slots=True, repr=False)
class Command:
    """An application command as the bot registered it; `guild` is None for a global one."""

    id: int
    data: Json
    version: int
    guild: Guild | None = None

    @property
    def name(self) -> str:
        return str(self.data["name"])

    @property
    def kind(self) -> int:
        return int(self.data.get("type") or 1)

    def __repr__(self) -> str:
        return f"<Command {self.name}>"


@dataclass(eq=False, slots=True, repr=False)
class Interaction:
    """Something a person did that the bot must answer within three seconds and may go on answering for 15 minutes."""

    id: int
    token: str
    kind: InteractionKind
    user: User
    channel: Channel
    created_at: float
    data: Json
    source: Message | None = None  # the message whose button was pressed
    answer: int | None = None  # type of the first answer
    original: Message | None = None
    followups: list[Message] = field(default_factory=list)
    choices: list[Json] | None = None
    modal: Json | None = None

    def __repr__(self) -> str:
        what = self.data.get("name") or self.data.get("custom_id")
        return f"<{self.kind.name} {what} by {self.user.display_name} in {self.channel.name}>"


def walk_components(parts: tuple[Json, ...] | list[Json]) -> Iterator[Json]:
    """Every component in `parts`, however deep."""
    for part in parts:
        yield part
        yield from walk_components(part.get("components") or [])
        for single in ("accessory", "component"):
            if part.get(single):
                yield from walk_components([part[single]])


def strings(value: object) -> Iterator[str]:
    """Every string in a piece of JSON, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)
