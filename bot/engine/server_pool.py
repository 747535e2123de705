"""Load balancing over several completions servers of one model."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.engine.completions_client import ServerError
from bot.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from bot.engine.completions_client import CompletionsClient
    from bot.engine.grammar_support import GrammarField

log = logging.getLogger(__name__)

_MAX_ASSIGNMENTS = 4096  # minds whose last server is remembered
_MAX_LOAD_DIFFERENCE = 2
"""Replies by which a mind's server may be busier than the least busy one before the mind moves.
Staying is cheaper up to a point, since the server has the mind's prompt prefix in its cache."""


@dataclass(eq=False)
class Server:
    """One server, its load and its health."""

    client: CompletionsClient
    active_replies: int = 0
    down_until: float = 0.0
    grammar_field: GrammarField | None = None
    grammar_probed: bool = False  # whether `grammar_field` has been found out

    @contextlib.contextmanager
    def track_reply(self) -> Iterator[None]:
        """Count a reply as active on this server."""
        self.active_replies += 1
        try:
            yield
        finally:
            self.active_replies -= 1


class ServerPool:
    """Picks a server for each reply: the one that served the mind before, or the least busy.

    A server that failed is skipped for `rest` seconds, and for longer if `monitor` gets no answer.
    """

    def __init__(
        self,
        clients: Sequence[CompletionsClient],
        *,
        rest: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._servers = [Server(client) for client in clients]
        self._assigned: OrderedDict[str, Server] = OrderedDict()
        self._rest = rest
        self._clock = clock

    def __iter__(self) -> Iterator[Server]:
        return iter(self._servers)

    def pick(self, mind: str) -> Server:
        """Return the server to ask for this mind.

        If all servers are down, return the one whose rest ends first.
        """
        now = self._clock()
        healthy = [server for server in self._servers if server.down_until <= now]
        if not healthy:
            return min(self._servers, key=lambda server: server.down_until)
        chosen = min(healthy, key=lambda server: server.active_replies)
        previous = self._assigned.pop(mind, None)
        if (
            previous is not None
            and previous in healthy
            and previous.active_replies <= chosen.active_replies + _MAX_LOAD_DIFFERENCE
        ):
            chosen = previous
        self._assigned[mind] = chosen
        if len(self._assigned) > _MAX_ASSIGNMENTS:
            self._assigned.popitem(last=False)
        return chosen

    def mark_failed(self, server: Server) -> None:
        """Skip a server for `rest` seconds, and probe its grammars again before the next one.

        It may come back as another program or version.
        """
        server.down_until = self._clock() + self._rest
        server.grammar_probed = False

    def forget_grammars(self) -> None:
        """Probe the grammars of every server again before its next one."""
        for server in self._servers:
            server.grammar_probed = False

    async def monitor(
        self, probe: Callable[[CompletionsClient], Awaitable[object]], probe_seconds: float
    ) -> None:
        """Probe every server periodically and skip those that fail. Runs until cancelled.

        A probe fails if it raises or takes more than `probe_seconds`.
        """
        while True:
            await asyncio.sleep(self._rest)
            await asyncio.gather(
                *(self._check(server, probe, probe_seconds) for server in self._servers)
            )

    async def _check(
        self,
        server: Server,
        probe: Callable[[CompletionsClient], Awaitable[object]],
        probe_seconds: float,
    ) -> None:
        try:
            async with asyncio.timeout(probe_seconds):
                await probe(server.client)
        except (ServerError, EngineError, TimeoutError) as error:
            if server.down_until <= self._clock():
                log.warning(
                    "%s is skipped until it answers again: %s", server.client, error or "timeout"
                )
            server.grammar_probed = False
            # Past the next probe.
            server.down_until = self._clock() + 2 * self._rest + probe_seconds
        else:
            server.down_until = 0.0
