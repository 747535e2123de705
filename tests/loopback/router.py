"""The table of routes. A route is a function with `@route` that gets a `Call` and returns JSON.

    @route("POST", "/channels/{channel_id}/typing")
    def start_typing(call: Call) -> Answer:
        channel = call.channel()
        call.require("send_messages", channel)
        call.world.start_typing(call.world.bot, channel)
        return None

None is answered as 204. Raise `Refusal(code)` to refuse as Discord does. `faults` and `requests`
name a route by its function.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from .computed_permissions import bits, in_guild
from .refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .conversation import DiscordMessage, Webhook
    from .entities import Channel, DiscordRole, Guild, Json, Member
    from .world import World

Answer = dict[str, Any] | list[dict[str, Any]] | None
Handler = Callable[["Call"], Answer]
Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Route:
    """One address with its method and handler."""

    method: str
    path: str
    handler: Handler
    status: int
    needs_token: bool
    pattern: re.Pattern[str]

    @property
    def name(self) -> str:
        return self.handler.__name__


@dataclass(frozen=True, slots=True)
class Upload:
    """A file in a request."""

    number: int
    filename: str
    content: bytes


@dataclass(slots=True)
class Call:
    """One request to a route."""

    world: World
    route: Route
    ids: dict[str, str]
    query: Mapping[str, str]
    body: Json
    items: list[Json] = field(default_factory=list)  # the body, if it is a list
    uploads: list[Upload] = field(default_factory=list)

    def number(self, key: str) -> int:
        """Return an id from the address, or 0, which is never used, if it is not a number."""
        text = self.ids[key]
        return int(text) if text.isdigit() else 0

    def channel(self, key: str = "channel_id") -> Channel:
        return _found(self.world.channels.get(self.number(key)), 10003)

    def guild(self) -> Guild:
        """Return a guild that the bot is in."""
        guild = _found(self.world.guilds.get(self.number("guild_id")), 10004)
        if self.world.bot.id not in guild.members:
            raise Refusal(50001)
        return guild

    def member(self, key: str = "user_id") -> Member:
        user_id = self.world.bot.id if self.ids.get(key) == "@me" else self.number(key)
        return _found(self.guild().members.get(user_id), 10007)

    def role(self) -> DiscordRole:
        return _found(self.guild().roles.get(self.number("role_id")), 10011)

    def message(self, channel: Channel) -> DiscordMessage:
        """Return a message that everyone in `channel` can see."""
        message = self.world.messages.get(self.number("message_id"))
        if message is None or message.channel is not channel or message.deleted or message.only_for:
            raise Refusal(10008)
        return message

    def webhook(self) -> Webhook:
        """Return the webhook in the address.

        If the address contains a token, it must be the webhook's.
        """
        webhook = _found(self.world.webhooks.get(self.number("webhook_id")), 10015)
        if "webhook_token" in self.ids and self.ids["webhook_token"] != webhook.token:
            raise Refusal(50027)
        return webhook

    def require(self, names: str, channel: Channel) -> None:
        """Refuse the request unless the bot has these permissions in `channel`."""
        self.world.require(self.world.bot, names, channel)

    def need_in_guild(self, names: str) -> None:
        """Refuse the request unless the bot has these permissions on the whole server."""
        guild = self.guild()
        wanted = bits(names)
        if in_guild(guild.members[self.world.bot.id], guild) & wanted != wanted:
            raise Refusal(50013)


TABLE: list[Route] = []


def route(
    method: str, path: str, *, status: int = 200, needs_token: bool = True
) -> Callable[[Handler], Handler]:
    """Add a function to the table.

    Use `needs_token=False` if the address itself contains a token.
    """
    pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path) + "$")

    def enter(handler: Handler) -> Handler:
        TABLE.append(Route(method, path, handler, status, needs_token, pattern))
        return handler

    return enter


def find(method: str, path: str, application_id: int) -> tuple[Route, dict[str, str]] | None:
    """Return the route for a request: the most specific one that matches.

    `{application_id}` matches only the bot's own id or `@me`.
    """
    found: list[tuple[int, Route, dict[str, str]]] = []
    for each in TABLE:
        match = each.pattern.match(path) if each.method == method else None
        if match is None:
            continue
        ids = match.groupdict()
        if ids.get("application_id", "@me") in {str(application_id), "@me"}:
            found.append((2 * len(ids) - ("application_id" in ids), each, ids))
    return min(found, key=lambda each: each[0])[1:] if found else None


def require_route(name: str) -> None:
    """Raise ValueError if no route has this name, so that a typo cannot make a test pass."""
    names = sorted({each.name for each in TABLE})
    if name not in names:
        raise ValueError(f"no route is called {name!r}; there are {', '.join(names)}")


def _found(thing: Thing | None, code: int) -> Thing:
    if thing is None:
        raise Refusal(code)
    return thing
