"""Messages with their history, webhooks, commands and interactions. Plain state without rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from .entities import Named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .entities import Channel, DiscordRole, Guild, Json, User

EPHEMERAL = 1 << 6  # message flags
LOADING = 1 << 7
COMPONENTS_V2 = 1 << 15


class MessageKind(IntEnum):
    """The message types that matter to bots: people's own messages, and system notices."""

    DEFAULT = 0
    PIN = 6
    THREAD_CREATED = 18
    REPLY = 19
    CHAT_COMMAND = 20
    CONTEXT_COMMAND = 23


class InteractionKind(IntEnum):
    """The kinds of interaction that an application must answer."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


@dataclass(eq=False, slots=True, repr=False)
class Webhook(Named):
    """A webhook, which posts messages to a channel under any name."""

    id: int
    token: str
    channel: Channel
    name: str
    creator: User
    avatar: str | None = None


@dataclass(frozen=True, slots=True)
class ApplicationEmoji:
    """An emoji of the bot's application."""

    id: int
    name: str
    image: bytes


@dataclass(frozen=True, slots=True)
class MessageState:
    """The content of a message at one time. Every state is kept."""

    content: str
    at: float
    embeds: tuple[Json, ...] = ()
    components: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    flags: int = 0

    def texts(self) -> Iterator[str]:
        """Yield every text of this state that a person could read."""
        yield self.content
        for part in (*self.embeds, *self.components, *self.attachments):
            yield from strings(part)


@dataclass(eq=False, slots=True, repr=False)
class DiscordMessage:
    """A message with its history.

    `author` is the account that sent it. `name` is the displayed name, which differs for
    webhooks.
    """

    id: int
    channel: Channel
    author: User
    name: str
    states: list[MessageState]
    kind: MessageKind = MessageKind.DEFAULT
    webhook: Webhook | None = None
    avatar_url: str | None = None
    reply_to: DiscordMessage | None = None
    interaction: Interaction | None = None
    only_for: User | None = None  # the only reader of an ephemeral message
    mentions: list[User] = field(default_factory=list)
    mention_roles: list[DiscordRole] = field(default_factory=list)
    mention_everyone: bool = False
    pings: set[str] = field(
        default_factory=set
    )  # "everyone" and the ids of notified users, reply pings included
    nonce: str | None = None
    deleted: bool = False
    pinned: bool = False
    thread: Channel | None = None
    reactions: dict[str, list[User]] = field(default_factory=dict)
    extra: Json = field(
        default_factory=dict
    )  # parts that the loopback only passes on: stickers, a forward's snapshot

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
        """True while a deferred answer shows only "… is thinking"."""
        return bool(self.now.flags & LOADING)

    @property
    def labels(self) -> list[str]:
        """The labels of the buttons, in order."""
        return [part["label"] for part in walk_components(self.now.components) if part.get("label")]

    def ever(self) -> Iterator[str]:
        """Yield every text that the message ever showed."""
        yield self.name
        for state in self.states:
            yield from state.texts()

    def files(self) -> set[int]:
        """Return the ids of all files that were ever attached."""
        return {int(attached["id"]) for state in self.states for attached in state.attachments}

    def __repr__(self) -> str:
        note = " (deleted)" if self.deleted else ""
        return f"<{self.name} in {self.channel.name}: {self.content!r}{note}>"


@dataclass(eq=False, slots=True, repr=False)
class AppCommand:
    """An application command as the bot registered it. `guild` is None for a global command."""

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
    """An action of a person that the bot must answer.

    The first answer is due within three seconds, further ones within 15 minutes.
    """

    id: int
    token: str
    kind: InteractionKind
    user: User
    channel: Channel
    created_at: float
    data: Json
    source: DiscordMessage | None = None  # the message with the pressed button
    answer: int | None = None  # type of the first answer
    original: DiscordMessage | None = None
    followups: list[DiscordMessage] = field(default_factory=list)
    choices: list[Json] | None = None
    modal: Json | None = None

    def __repr__(self) -> str:
        what = self.data.get("name") or self.data.get("custom_id")
        return f"<{self.kind.name} {what} by {self.user.display_name} in {self.channel.name}>"


def walk_components(parts: tuple[Json, ...] | list[Json]) -> Iterator[Json]:
    """Yield every component in `parts`, at any depth."""
    for part in parts:
        yield part
        yield from walk_components(part.get("components") or [])
        for single in ("accessory", "component"):
            if part.get(single):
                yield from walk_components([part[single]])


def strings(value: object) -> Iterator[str]:
    """Yield every string value in a piece of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)
