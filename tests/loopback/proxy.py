"""An HTTP proxy on loopback, through which a bot in another process reaches this Discord.

It knows only CONNECT, and it connects every host of Discord's to the loopback's TLS port.
"""

from __future__ import annotations

import asyncio

HOSTS = ("discord.com", "discord.gg", "discordapp.com", "discordapp.net", "discord.media")


def is_discord(host: str) -> bool:
    """Return whether `host` is one of Discord's."""
    return any(host == each or host.endswith(f".{each}") for each in HOSTS)


class Proxy:
    """Serves until it is closed. `refused` lists the other hosts that were asked for."""

    def __init__(self, target_port: int) -> None:
        self.refused: list[str] = []
        self._target_port = target_port
        self._server: asyncio.Server | None = None
        self._tunnels: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen on a free loopback port and return it."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        if self._server:
            self._server.close()
        for task in list(self._tunnels):
            task.cancel()
        await asyncio.gather(*self._tunnels, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tunnels.add(task)
        try:
            await self._tunnel(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # one of the two ends has hung up, or the loopback is closing
        finally:
            self._tunnels.discard(task)
            writer.close()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.split(" ", 2)
        host = target.rpartition(":")[0]
        if method != "CONNECT" or not is_discord(host):
            self.refused.append(target)
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_pour(reader, far_writer))
                both.create_task(_pour(far_reader, writer))
        finally:
            far_writer.close()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
