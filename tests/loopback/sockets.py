"""The sockets of the loopback, the connector for bots in this process and the proxy for others."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from .proxy import Proxy, is_discord
from .trust import client_context, server_context, write_authority

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LARGEST_REQUEST = 64 * 1024 * 1024


class Sockets:
    """One TLS port for all of Discord's hosts, and a proxy to it. Both are on 127.0.0.1."""

    def __init__(self, serve: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
        app = web.Application(client_max_size=LARGEST_REQUEST)
        app.router.add_route("*", "/{path:.*}", serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        self._folder = tempfile.TemporaryDirectory(prefix="loopback-discord-")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port: int = self._listener.getsockname()[1]
        self._proxy = Proxy(self._port)
        self._proxy_port = 0

    async def open(self) -> None:
        await self._runner.setup()
        await web.SockSite(self._runner, self._listener, ssl_context=server_context()).start()
        self._proxy_port = await self._proxy.start()
        write_authority(self._authority_file)

    async def close(self) -> None:
        await self._proxy.close()
        await self._runner.cleanup()
        self._listener.close()
        self._folder.cleanup()

    def connector(self) -> aiohttp.TCPConnector:
        """Return a connector for one client session of this process, which closes it."""
        return aiohttp.TCPConnector(resolver=_ToLoopback(self._port), ssl=client_context(), limit=0)

    @property
    def proxy_url(self) -> str:
        return f"http://127.0.0.1:{self._proxy_port}"

    @property
    def hosts_refused(self) -> list[str]:
        return self._proxy.refused

    @property
    def authority_file(self) -> str:
        """The path of the certificate that another process must trust."""
        return str(self._authority_file)

    @property
    def _authority_file(self) -> Path:
        return Path(self._folder.name) / "authority.pem"


class _ToLoopback(AbstractResolver):
    """Resolves Discord's hosts to the loopback, and no other host."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def resolve(
        self,
        host: str,
        port: int = 0,  # noqa: ARG002 - aiohttp's signature
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002
    ) -> list[ResolveResult]:
        if not is_discord(host):
            raise OSError(f"the loopback knows no host {host!r}")
        found: ResolveResult = {
            "hostname": host,
            "host": "127.0.0.1",
            "port": self._port,
            "family": socket.AF_INET,
            "proto": 0,
            "flags": 0,
        }
        return [found]

    async def close(self) -> None:
        """Do nothing: no resource is open."""
