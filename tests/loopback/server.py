"""One Discord on loopback, from its sockets to what tests say to it."""

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
from .entities import Overwrite, Privileged
from .faults import Faults
from .gateway import Gateway
from .openapi import find_description
from .pending_work import has_pending_work
from .permissions import INVITED, bits
from .rates import Rates
from .rest import Rest, Seen, Violation
from .router import known
from .routes.interactions import FIRST_ANSWER
from .sockets import Sockets
from .speaker import Speaker
from .world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Self

    import aiohttp
    import discord
    from aiohttp import web

    from .conversation import Message
    from .entities import Channel, Guild, Role, User
    from .outcome import Outcome

Found = TypeVar("Found")
assert routes  # importing it has filled the table of routes
EVERY_INTENT = frozenset(Privileged)
PASS = 0.005  # seconds between two looks at the bot


class LoopbackDiscord:
    """A Discord to test bots against. Use it as `async with LoopbackDiscord() as discord:`.

    `portal` holds the privileged intents that are switched on for the bot; `patience` is how many seconds the waiting
    verbs wait for a bot that has deferred its answer; `ahead` by how many seconds its clock differs from the bot's.
    """

    def __init__(
        self,
        *,
        portal: frozenset[Privileged] = EVERY_INTENT,
        patience: float = 10.0,
        ahead: float = 0.0,
    ) -> None:
        self.world = World(portal=set(portal), clock=Clock(ahead))
        self.token = _token(self.bot.id)
        self.gateway = Gateway(self.world, self.token)
        self.faults = Faults()
        self.rates = Rates(self.world.clock.now)
        self.patience = patience
        self.rest = Rest(self.world, self.token, self.faults, self.rates, find_description())
        self._sockets = Sockets(self._serve)

    # What happened

    @property
    def clock(self) -> Clock:
        return self.world.clock

    @property
    def bot(self) -> User:
        """The bot's account."""
        return self.world.bot

    @property
    def violations(self) -> list[Violation]:
        """What no correct client would have sent. A test's end should find none; see `forgive`."""
        return self.rest.violations

    @property
    def requests(self) -> list[Seen]:
        """Every request so far, refused or not."""
        return self.rest.seen

    @property
    def fetched(self) -> list[str]:
        """The paths of all files that were fetched from the CDN."""
        return self.rest.fetched

    @property
    def refused(self) -> int:
        """How many requests count towards Discord's ban: 10,000 answers of 401, 403 and 429 in ten minutes."""
        return sum(each.status in {401, 403, 429} for each in self.requests)

    @property
    def hosts_refused(self) -> list[str]:
        """Whom else than Discord a bot wanted to reach through the proxy."""
        return self._sockets.hosts_refused

    def asked(self, route: str) -> list[Seen]:
        """The requests to one route, by its function's name."""
        known(route)
        return [each for each in self.requests if each.route == route]

    def forgive(self, *codes: int) -> list[Violation]:
        """Take the violations with these codes (none: all) off the list and return them."""
        forgiven = [each for each in self.violations if not codes or each.code in codes]
        self.violations[:] = [each for each in self.violations if each not in forgiven]
        return forgiven

    # The whole of it failing

    async def go_down(self) -> None:
        """Be gone for everybody: every connection breaks, and every further one too."""
        self.rest.down = self.gateway.down = True
        await self.gateway.close()

    def come_back(self) -> None:
        """Be there again. Who was connected may resume."""
        self.rest.down = self.gateway.down = False

    # What there is

    def guild(self, name: str = "Loopback", *, bot_permissions: str = INVITED) -> Guild:
        """A server that the bot is on."""
        return self.world.guild(name, bot_permissions=bot_permissions)

    def person(
        self,
        name: str,
        guild: Guild | None = None,
        *,
        permissions: str = "",
        roles: tuple[Role, ...] = (),
        nick: str = "",
    ) -> Person:
        """Somebody, on `guild` if one is given, who has `permissions` there on top of @everyone's."""
        user = self.world.user(name)
        if guild:
            own = (
                (self.world.role(guild, f"{name}'s", permissions=bits(permissions)),)
                if permissions
                else ()
            )
            self.world.join(guild, user, *roles, *own, nick=nick or None)
        return Person(self, user)

    def other_bot(self, name: str, guild: Guild) -> Speaker:
        """A bot that is not the one under test."""
        user = self.world.user(name, bot=True)
        self.world.join(guild, user)
        return Speaker(self, user)

    def webhook_says(self, channel: Channel, name: str, text: str) -> Message:
        """Somebody else's webhook writes: a news feed, or another bot's personas."""
        parent = channel.parent if channel.thread and channel.parent else channel
        assert parent.guild
        webhook = self.world.webhook(parent, name, parent.guild.owner)
        return speech.post(
            self.world,
            channel,
            speech.Sender(webhook.creator, name, None, webhook),
            speech.Draft(text),
        )

    def show_preview(self, message: Message) -> None:
        """Discord has looked behind the message's link and adds a preview, which the bot hears as an edit."""
        preview = {"type": "link", "title": "A page", "url": "https://example.com/"}
        message.states[-1] = replace(message.now, embeds=(*message.now.embeds, preview))
        speech.changed(self.world, message)

    def withdraw(self, permissions: str, channel: Channel) -> None:
        """Take these permissions from the bot in one channel, whatever its roles say."""
        before = channel.overwrites.get(self.bot.id, Overwrite(self.bot.id, 1))
        taken = bits(permissions)
        channel.overwrites[self.bot.id] = Overwrite(
            self.bot.id, 1, before.allow & ~taken, before.deny | taken
        )
        self.world.channel_changed(channel)

    def text_channel(self, guild: Guild, name: str, *, nsfw: bool = False) -> Channel:
        return self.world.channel(guild, name, nsfw=nsfw)

    # How a bot gets here

    def connector(self) -> aiohttp.TCPConnector:
        """For a bot in this process: `commands.Bot(connector=discord.connector(), …)`. Each bot needs its own."""
        return self._sockets.connector()

    @property
    def proxy_url(self) -> str:
        """For a bot in another process, as discord.py's `proxy`."""
        return self._sockets.proxy_url

    def environment(self) -> dict[str, str]:
        """For a bot in another process: whom to trust, and the token and proxy it must be told in its own way."""
        return {
            "SSL_CERT_FILE": self._sockets.authority_file,
            "LOOPBACK_DISCORD_PROXY": self.proxy_url,
            "LOOPBACK_DISCORD_TOKEN": self.token,
        }

    @contextlib.asynccontextmanager
    async def running(self, bot: discord.Client, *, within: float = 10.0) -> AsyncIterator[None]:
        """Log `bot` in, wait until it is ready, and close it in the end."""
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
            ):  # where starting failed, the exception is already on its way
                await task

    # Waiting

    async def until(
        self, predicate: Callable[[], Found], within: float = 10.0, what: str = ""
    ) -> Found:
        """Wait until `predicate` returns something true, and return that. Fails after `within` seconds."""
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
        count, silent = len(self.requests), 0
        while silent < max(10, round(seconds / PASS)):
            assert time.monotonic() < deadline, f"the bot is still busy: {self.requests[-1:]}"
            await asyncio.sleep(PASS)
            if has_pending_work() or len(self.requests) != count:
                count, silent = len(self.requests), 0
            else:
                silent += 1

    async def answered(self, outcome: Outcome) -> None:
        """Wait for the first answer, no longer than Discord does, and after a deferral for the real one."""
        made = outcome.interaction.created_at
        await _until_or(lambda: not outcome.failed, lambda: self.clock.now() - made > FIRST_ANSWER)
        deadline = time.monotonic() + self.patience
        await _until_or(lambda: not outcome.thinking, lambda: time.monotonic() > deadline)

    # Being there

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


def _token(bot_id: int) -> str:
    """A token in Discord's shape: the bot's id, a time, a signature."""
    return f"{base64.b64encode(str(bot_id).encode()).decode().rstrip('=')}.Loopbk.{'signature-'.ljust(38, 'x')}"


async def _until_or(done: Callable[[], bool], too_late: Callable[[], bool]) -> None:
    while not done() and not too_late():  # noqa: ASYNC110 - time is a test's to move, so there is no event to await
        await asyncio.sleep(0.005)
