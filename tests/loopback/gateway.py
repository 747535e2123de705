"""The WebSocket side: HELLO, IDENTIFY, RESUME, heartbeats, and every way a connection can end."""

from __future__ import annotations

import asyncio
import json
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from . import payloads
from .compression import packer
from .entities import Privileged
from .sessions import CONTENT, MEMBERS, PRESENCES, Session, members_chunk

if TYPE_CHECKING:
    from .compression import Packer
    from .entities import Json
    from .world import Event, World

HEARTBEAT_EVERY = 41_250  # milliseconds
PRIVILEGED = {
    MEMBERS: Privileged.MEMBERS,
    PRESENCES: Privileged.PRESENCES,
    CONTENT: Privileged.CONTENT,
}


class Op(IntEnum):
    """The opcodes of packets other than events."""

    HEARTBEAT = 1
    IDENTIFY = 2
    PRESENCE = 3
    VOICE = 4
    RESUME = 6
    RECONNECT = 7
    MEMBERS = 8
    INVALID = 9
    HELLO = 10
    ACK = 11


class Gateway:
    """Sends the world's events to connected bots."""

    def __init__(self, world: World, token: str) -> None:
        self.sessions: dict[str, Session] = {}
        self.identified = 0  # number of sessions that bots have begun
        self.resumed = 0
        self.down = False  # True: refuse every connection
        self.closed_with: list[int] = []  # codes with which connections were closed
        self._world = world
        self._token = token
        self._sockets: dict[str, web.WebSocketResponse] = {}
        self._twice: dict[str, int] = {}
        self._held: dict[str, tuple[int, list[Event]]] = {}
        world.announce = self.announce

    # Events

    def announce(self, event: Event) -> None:
        """Send an event to every session that may receive it, as the test has ordered."""
        if event.name in self._held:
            count, held = self._held[event.name]
            held.append(event)
            if len(held) == count:
                del self._held[event.name]
                for each in reversed(held):
                    self._send(each)
            return
        self._send(event)
        if self._twice.get(event.name):
            self._twice[event.name] -= 1
            self._send(event)

    def _send(self, event: Event) -> None:
        for session in self.sessions.values():
            if session.receives(event, self._world):
                session.send_event(event.name, session.payload(event, self._world))

    # Faults

    def repeat(self, event: str, times: int = 1) -> None:
        """Send the next `times` events of this name twice, as Discord sometimes does."""
        self._twice[event] = times

    def reverse(self, event: str, count: int = 2) -> None:
        """Hold back the next `count` events of this name and send them in reverse order."""
        self._held[event] = (count, [])

    async def close(self, code: int = 4000) -> None:
        """Break every connection. If the bot resumes, it gets the events that it missed."""
        for socket in list(self._sockets.values()):
            await socket.close(code=code)

    def reconnect(self) -> None:
        """Ask every bot to reconnect and resume."""
        for session in self.sessions.values():
            session.send(Op.RECONNECT)

    def invalidate(self, *, resumable: bool = False) -> None:
        """Invalidate every session.

        If they are not `resumable`, the bot never gets the missed events.
        """
        for session in list(self.sessions.values()):
            session.send(Op.INVALID, resumable)
            if not resumable:
                del self.sessions[session.id]

    def forget(self) -> None:
        """Delete every session without notice. A bot that resumes must start a new session."""
        self.sessions.clear()

    # Connections

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection from HELLO to its end."""
        if self.down:
            self.closed_with.append(503)
            return web.Response(status=503)
        socket = web.WebSocketResponse(heartbeat=None, max_msg_size=4096 * 4)
        await socket.prepare(request)
        outbox: asyncio.Queue[Json | None] = asyncio.Queue()
        outbox.put_nowait(
            {"op": Op.HELLO, "d": {"heartbeat_interval": HEARTBEAT_EVERY}, "t": None, "s": None}
        )
        writer = asyncio.create_task(
            _write(socket, outbox, packer(request.query.get("compress", "")))
        )
        session: Session | None = None
        try:
            async for received in socket:
                if received.type is not WSMsgType.TEXT:
                    continue
                packet = json.loads(received.data)
                session = await self._receive(packet, session, socket, outbox) or session
        finally:
            if session and session.outbox is outbox:
                session.outbox = None
                self._sockets.pop(session.id, None)
            outbox.put_nowait(None)
            await writer
        return socket

    async def _receive(
        self,
        packet: Json,
        session: Session | None,
        socket: web.WebSocketResponse,
        outbox: asyncio.Queue[Json | None],
    ) -> Session | None:
        op = packet["op"]
        data = packet.get("d") or {}
        if op == Op.HEARTBEAT:
            outbox.put_nowait({"op": Op.ACK, "d": None, "t": None, "s": None})
        elif op in {Op.IDENTIFY, Op.RESUME}:
            if code := self._close_code(op, data):
                self.closed_with.append(code)
                await socket.close(code=code)
                return None
            return (
                self._identify(data, socket, outbox)
                if op == Op.IDENTIFY
                else self._resume(data, socket, outbox)
            )
        elif op == Op.MEMBERS and session:
            guild = self._world.guilds.get(int(_only(data["guild_id"])))
            if guild:
                session.send_event("GUILD_MEMBERS_CHUNK", members_chunk(guild, data))
        elif op == Op.PRESENCE:
            self._world.presences.append(data)
        elif op != Op.VOICE:
            await socket.close(code=4001)
        return None

    def _close_code(self, op: int, data: Json) -> int | None:
        """Return the close code if the token is wrong or an intent is not enabled in the portal."""
        if data["token"] != self._token:
            return 4004
        if op == Op.IDENTIFY and any(
            data["intents"] & bit and name not in self._world.portal
            for bit, name in PRIVILEGED.items()
        ):
            return 4014
        return None

    def _identify(
        self, data: Json, socket: web.WebSocketResponse, outbox: asyncio.Queue[Json | None]
    ) -> Session:
        world = self._world
        self.identified += 1
        world.presences += [data["presence"]] if data.get("presence") else []
        first, of = data.get("shard") or (0, 1)
        session = Session(
            f"session-{world.clock.snowflake()}", data["intents"], (first, of), outbox=outbox
        )
        self.sessions[session.id] = session
        self._sockets[session.id] = socket
        guilds = [each for each in world.guilds.values() if world.bot.id in each.members]
        guilds = [each for each in guilds if (each.id >> 22) % of == first]
        ready: Json = {
            "v": 10,
            "user": payloads.user(world.bot),
            "guilds": [{"id": str(each.id), "unavailable": True} for each in guilds],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": "wss://gateway-loopback.discord.gg",
            "shard": [first, of],
            "application": {"id": str(world.bot.id), "flags": application_flags(world)},
        }
        session.send_event("READY", ready)
        for guild in guilds:
            session.send_event("GUILD_CREATE", session.guild(guild, world) | payloads.KNOWN_GUILD)
        return session

    def _resume(
        self, data: Json, socket: web.WebSocketResponse, outbox: asyncio.Queue[Json | None]
    ) -> Session | None:
        session = self.sessions.get(data["session_id"])
        if session is None:
            outbox.put_nowait({"op": Op.INVALID, "d": False, "t": None, "s": None})
            return None
        self.resumed += 1
        session.outbox = outbox
        self._sockets[session.id] = socket
        for packet in [each for each in session.sent if each["s"] > data["seq"]]:
            outbox.put_nowait(packet)
        session.send_event("RESUMED", {"_trace": []})
        return session


def application_flags(world: World) -> int:
    """Return the flags for the enabled privileged intents, in the variant for small bots."""
    flags = {
        Privileged.PRESENCES: 1 << 13,
        Privileged.MEMBERS: 1 << 15,
        Privileged.CONTENT: 1 << 19,
    }
    return sum(flags[each] for each in world.portal)


async def _write(
    socket: web.WebSocketResponse, outbox: asyncio.Queue[Json | None], pack: Packer
) -> None:
    """Send the packets in `outbox` until a None arrives."""
    while (packet := await outbox.get()) is not None:
        packed = pack(json.dumps(packet))
        if socket.closed:
            continue
        try:
            if isinstance(packed, bytes):
                await socket.send_bytes(packed)
            else:
                await socket.send_str(packed)
        except ConnectionError:
            continue  # the bot has hung up; its session keeps the packet


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value
