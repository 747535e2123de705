"""An engine with scripted replies, for tests of code that uses an engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from bot.engine.protocol import Chunk, Dialect, EngineInfo, Finish, FinishReason, Request
from bot.errors import EngineError, EngineStartError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.her.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Scripted:
    """One raw reply and its timing. With `error`, it raises that instead of finishing."""

    text: str
    chunk: int = 8  # characters per chunk
    pause: float = 0.0  # seconds before each chunk
    error: EngineError | None = None
    reason: FinishReason = FinishReason.STOP


Script: TypeAlias = (
    "str | EngineError | Scripted | Callable[[Request], str | EngineError | Scripted]"
)


@dataclass
class ScriptedEngine:
    """Implements Engine. Replies come from `script` in order. The last one repeats.

    A function in the script is called with the request. `requests` has all requests, `cancelled`
    those whose reply was not read to the end. While `gate` is cleared, replies wait before their
    first chunk.
    """

    script: list[Script]
    dialect: Dialect = Dialect.HER
    context: int = 8192
    requests: list[Request] = field(default_factory=list)
    cancelled: list[Request] = field(default_factory=list)
    starts: int = 0
    closes: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    running: int = 0
    most_running: int = 0

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def info(self) -> EngineInfo:
        if not self.starts:
            raise EngineStartError("The scripted engine has not been started.")
        return EngineInfo("scripted", "scripted", self.dialect, self.context, "a test")

    async def start(self) -> None:
        self.starts = 1

    async def close(self) -> None:
        self.closes = 1

    async def count(self, prompt: Prompt) -> int:
        """Count four characters as one token."""
        return -(-len(prompt.text) // 4)

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        reply = self._reply(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        ended = False
        try:
            await self.gate.wait()
            for start in range(0, len(reply.text), reply.chunk):
                await asyncio.sleep(reply.pause)
                yield Chunk(reply.text[start : start + reply.chunk])
            ended = True
            if reply.error:
                raise reply.error
            tokens = -(-len(reply.text) // 4)
            prompt = await self.count(request.prompt)
            yield Chunk("", Finish(reply.reason, prompt, prompt, tokens))
        finally:
            self.running -= 1
            if not ended:
                self.cancelled.append(request)

    def _reply(self, request: Request) -> Scripted:
        entry = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        reply = entry(request) if callable(entry) else entry
        match reply:
            case str():
                return Scripted(reply)
            case EngineError():
                return Scripted("", error=reply)
            case _:
                return reply
