"""Chooses among several completions servers of one model: the mind's own while it is well, else the least busy."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.engine.completions_client import Transient
from bot.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from bot.engine.completions_client import CompletionsClient

log = logging.getLogger(__name__)

_MINDS_REMEMBERED = 4096
_BUSIER_AT_MOST = 2  # replies more than the least busy server before a mind moves: its prefix is cached where it was


@dataclass(eq=False)
class Server:
    """One server and what is known of it."""

    client: CompletionsClient
    busy: int = 0
    down_until: float = 0.0

    @contextlib.contextmanager
    def work(self) -> Iterator[None]:
        """Count a reply as under way here."""
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1


class ServerPool:
    """All servers. One that failed is left alone for `rest` seconds, or as long as `watch` finds it silent."""

    def __init__(
        self,
        clients: Sequence[CompletionsClient],
        *,
        rest: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._servers = [Server(client) for client in clients]
        self._homes: OrderedDict[str, Server] = OrderedDict()
        self._rest = rest
        self._clock = clock

    def __iter__(self) -> Iterator[Server]:
        return iter(self._servers)

    def pick(self, mind: str) -> Server:
        """Return the server to ask for this mind; where all are down, the one that may be up first."""
        now = self._clock()
        well = [server for server in self._servers if server.down_until <= now]
        if not well:
            return min(self._servers, key=lambda server: server.down_until)
        chosen = min(well, key=lambda server: server.busy)
        home = self._homes.pop(mind, None)
        if home in well and home is not None and home.busy <= chosen.busy + _BUSIER_AT_MOST:
            chosen = home
        self._homes[mind] = chosen
        if len(self._homes) > _MINDS_REMEMBERED:
            self._homes.popitem(last=False)
        return chosen

    def failed(self, server: Server) -> None:
        """Leave a server alone for a while."""
        server.down_until = self._clock() + self._rest

    async def watch(
        self, ask: Callable[[CompletionsClient], Awaitable[object]], patience: float
    ) -> None:
        """Have every server looked at again and again: one that doesn't answer `ask` within `patience` seconds is
        left alone until it does. Goes on for ever."""
        while True:
            await asyncio.sleep(self._rest)
            await asyncio.gather(*(self._look(server, ask, patience) for server in self._servers))

    async def _look(
        self, server: Server, ask: Callable[[CompletionsClient], Awaitable[object]], patience: float
    ) -> None:
        try:
            async with asyncio.timeout(patience):
                await ask(server.client)
        except (Transient, EngineError, TimeoutError) as error:
            if server.down_until <= self._clock():
                log.warning(
                    "%s is left alone until it answers again: %s",
                    server.client,
                    error or "it is silent",
                )
            server.down_until = self._clock() + 2 * self._rest + patience  # beyond the next look
        else:
            server.down_until = 0.0
