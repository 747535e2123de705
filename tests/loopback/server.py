"""`LoopbackDiscord`: one Discord with its sockets, contents and records."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from . import routes, speech
from .actors import Person
from .clock import Clock
from .computed_permissions import INVITED, bits
from .entities import Overwrite, Privileged
from .faults import Faults
from .gateway import Gateway
from .openapi import find_description
from .pending_work import has_pending_work
from .proxy_bot import ProxyBot
from .rates import Rates
from .rest import RecordedRequest, Rest, Violation
from .router import require_route
from .routes.interaction_routes import FIRST_ANSWER
from .sockets import Sockets
from .world import World
from .writing_account import WritingAccount

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Self

    import aiohttp
    import discord
    from aiohttp import web

    from .conversation import DiscordMessage
    from .entities import Channel, DiscordRole, Guild, User
    from .outcome import Outcome

Found = TypeVar("Found")
assert routes  # importing it fills the table of routes
EVERY_INTENT = frozenset(Privileged)
PASS = 0.005  # seconds between two looks at the bot


class LoopbackDiscord:
    """A Discord to test bots against. Use it as `async with LoopbackDiscord() as discord:`.

    `portal` contains the privileged intents that are enabled for the bot. `patience` is how
    many seconds a person's methods wait for a deferred answer. `ahead` is by how many seconds
    its clock is ahead of the bot's.
    """

    def __init__(
        self,
        *,
        portal: frozenset[Privileged] = EVERY_INTENT,
        patience: float = 10.0,
        ahead: float = 0.0,
    ) -> None:
        self.world = World(portal=set(portal), clock=Clock(ahead))
        self.token = _make_token(self.bot.id)
        self.gateway = Gateway(self.world, self.token)
        self.faults = Faults()
        self.rates = Rates(self.world.clock.now)
        self.patience = patience
        self.rest = Rest(self.world, self.token, self.faults, self.rates, find_description())
        self._sockets = Sockets(self._serve)

    # Records

    @property
    def clock(self) -> Clock:
        return self.world.clock

    @property
    def bot(self) -> User:
        """The bot's account."""
        return self.world.bot

    @property
    def violations(self) -> list[Violation]:
        """The requests that no correct client sends.

        A test should end without any; see `forgive`.
        """
        return self.rest.violations

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request so far, including refused ones."""
        return self.rest.seen

    @property
    def fetched(self) -> list[str]:
        """The paths of all files requested from the CDN."""
        return self.rest.fetched

    @property
    def refused(self) -> int:
        """The number of requests that count towards Discord's ban.

        It bans after 10,000 answers of 401, 403 and 429 in ten minutes.
        """
        return sum(each.status in {401, 403, 429} for each in self.requests)

    @property
    def hosts_refused(self) -> list[str]:
        """The hosts other than Discord's that a bot asked the proxy for."""
        return self._sockets.hosts_refused

    def requests_to(self, route: str) -> list[RecordedRequest]:
        """Return the requests to one route, named by its function."""
        require_route(route)
        return [each for each in self.requests if each.route == route]

    def forgive(self, *codes: int) -> list[Violation]:
        """Remove the violations with these codes, or all of them, and return them."""
        forgiven = [each for each in self.violations if not codes or each.code in codes]
        self.violations[:] = [each for each in self.violations if each not in forgiven]
        return forgiven

    # Outages

    async def go_down(self) -> None:
        """Break every connection, and refuse new ones."""
        self.rest.down = self.gateway.down = True
        await self.gateway.close()

    def come_back(self) -> None:
        """Accept connections again. Sessions can be resumed."""
        self.rest.down = self.gateway.down = False

    # Contents

    def guild(self, name: str = "Loopback", *, bot_permissions: str = INVITED) -> Guild:
        """Make a server with the bot on it."""
        return self.world.guild(name, bot_permissions=bot_permissions)

    def person(
        self,
        name: str,
        guild: Guild | None = None,
        *,
        permissions: str = "",
        roles: tuple[DiscordRole, ...] = (),
        nick: str = "",
    ) -> Person:
        """Make a person, on `guild` if given, with `permissions` besides those of @everyone."""
        user = self.world.user(name)
        if guild:
            own = (
                (self.world.role(guild, f"{name}'s", permissions=bits(permissions)),)
                if permissions
                else ()
            )
            self.world.join(guild, user, *roles, *own, nick=nick or None)
        return Person(self, user)

    def other_bot(self, name: str, guild: Guild) -> WritingAccount:
        """Make a bot other than the one under test."""
        user = self.world.user(name, bot=True)
        self.world.join(guild, user)
        return WritingAccount(self, user)

    def proxy_bot(self, name: str, guild: Guild, bot_id: int) -> ProxyBot:
        """Make a bot that posts people's messages again under other names.

        Its application has the id of its account.
        """
        user = self.world.user(name, bot=True, user_id=bot_id)
        allowed = bits("manage_messages manage_webhooks")
        self.world.join(guild, user, self.world.role(guild, name, permissions=allowed))
        return ProxyBot(self, user)

    def webhook_says(self, channel: Channel, name: str, text: str) -> DiscordMessage:
        """Post by another program's webhook, for example a news feed or another bot's persona."""
        parent = channel.parent if channel.thread and channel.parent else channel
        assert parent.guild
        webhook = self.world.webhook(parent, name, parent.guild.owner)
        return speech.post(
            self.world,
            channel,
            speech.Sender(webhook.creator, name, None, webhook),
            speech.Draft(text),
        )

    def show_preview(self, message: DiscordMessage) -> None:
        """Add a link preview to a message. The bot gets this as an edit."""
        preview = {"type": "link", "title": "A page", "url": "https://example.com/"}
        message.states[-1] = replace(message.now, embeds=(*message.now.embeds, preview))
        speech.announce_change(self.world, message)

    def withdraw(self, permissions: str, channel: Channel) -> None:
        """Deny these permissions to the bot in one channel, whatever its roles allow."""
        before = channel.overwrites.get(self.bot.id, Overwrite(self.bot.id, 1))
        taken = bits(permissions)
        channel.overwrites[self.bot.id] = Overwrite(
            self.bot.id, 1, before.allow & ~taken, before.deny | taken
        )
        self.world.channel_changed(channel)

    def text_channel(self, guild: Guild, name: str, *, nsfw: bool = False) -> Channel:
        return self.world.channel(guild, name, nsfw=nsfw)

    # Connecting a bot

    def connector(self) -> aiohttp.TCPConnector:
        """Return a connector for a bot in this process: `commands.Bot(connector=...)`.

        Each bot needs one.
        """
        return self._sockets.connector()

    @property
    def proxy_url(self) -> str:
        """The value of discord.py's `proxy` for a bot in another process."""
        return self._sockets.proxy_url

    def environment(self) -> dict[str, str]:
        """Return the environment of a bot in another process: authority, proxy and token."""
        return {
            "SSL_CERT_FILE": self._sockets.authority_file,
            "LOOPBACK_DISCORD_PROXY": self.proxy_url,
            "LOOPBACK_DISCORD_TOKEN": self.token,
        }

    @contextlib.asynccontextmanager
    async def running(self, bot: discord.Client, *, within: float = 10.0) -> AsyncIterator[None]:
        """Log `bot` in, wait until it is ready, and close it at the end."""
        task = asyncio.create_task(bot.start(self.token))
        try:
            await self.until(lambda: task.done() or bot.is_ready(), within, "the bot is ready")
            if task.done():
                await task
            yield
        finally:
            await bot.close()
            with contextlib.suppress(
                Exception
            ):  # if starting failed, that exception is already propagating
                await task

    # Waiting

    async def until(
        self, predicate: Callable[[], Found], within: float = 30.0, what: str = ""
    ) -> Found:
        """Wait until `predicate` returns something true, and return that.

        Raises AssertionError after `within` seconds. `what` describes the condition in its
        message.
        """
        deadline = time.monotonic() + within
        while not (found := predicate()):
            if time.monotonic() > deadline:
                last = [
                    f"{each.method} {each.path} -> {each.status}" for each in self.requests[-8:]
                ]
                raise AssertionError(
                    f"waited {within} s in vain for: {what or predicate}; last requests: {last}"
                )
            await asyncio.sleep(0.005)
        return found

    async def quiet(self, seconds: float = 0.05, within: float = 10.0) -> None:
        """Wait until the bot has nothing left to do.

        It is busy while one of its tasks waits for a response, a thread or the database. After
        that, no request may arrive for `seconds`. These are counted in passes of the event loop,
        so that a busy machine only makes them longer. For a bot in another process, the pause
        without requests is the only sign. Raises AssertionError after `within` seconds.
        """
        deadline = time.monotonic() + within
        count = len(self.requests)
        silent = 0
        while silent < max(10, round(seconds / PASS)):
            assert time.monotonic() < deadline, f"the bot is still busy: {self.requests[-1:]}"
            await asyncio.sleep(PASS)
            if has_pending_work() or len(self.requests) != count:
                count = len(self.requests)
                silent = 0
            else:
                silent += 1

    async def wait_for_answer(self, outcome: Outcome) -> None:
        """Wait for the first answer as long as Discord does, and then for a deferred one."""
        begun = outcome.interaction.created_at
        await _until_or(lambda: not outcome.failed, lambda: self.clock.now() - begun > FIRST_ANSWER)
        deadline = time.monotonic() + self.patience
        await _until_or(lambda: not outcome.thinking, lambda: time.monotonic() > deadline)

    # Opening and closing

    async def __aenter__(self) -> Self:
        await self._sockets.open()
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.gateway.close(1001)
        await self._sockets.close()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self.gateway.handle(request)
        return await self.rest.handle(request)


def _make_token(bot_id: int) -> str:
    """Return a token in Discord's form: the bot's id, a time, a signature."""
    encoded_id = base64.b64encode(str(bot_id).encode()).decode().rstrip("=")
    return f"{encoded_id}.Loopbk.{'signature-'.ljust(38, 'x')}"


async def _until_or(done: Callable[[], bool], too_late: Callable[[], bool]) -> None:
    while not done() and not too_late():  # noqa: ASYNC110 - tests move the clock, so there is no event to await
        await asyncio.sleep(0.005)
