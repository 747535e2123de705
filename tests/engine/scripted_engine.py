"""An engine that says what it is told to: for tests of everything that stands on an engine."""

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
    """One reply: its raw text, and how it comes. With `error` it ends in that instead of a finish."""

    text: str
    chunk: int = 8  # characters at a time
    pause: float = 0.0  # seconds before each chunk
    error: EngineError | None = None
    reason: FinishReason = FinishReason.STOP


Script: TypeAlias = (
    "str | EngineError | Scripted | Callable[[Request], str | EngineError | Scripted]"
)


@dataclass
class ScriptedEngine:
    """Implements Engine. Replies come from `script` in order, the last one again and again.

    A function in the script is asked with the request. What was asked stands in `requests`, what was broken off before
    its end in `cancelled`. While `gate` is cleared, replies wait before their first chunk.
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
            raise EngineStartError("The scripted engine hasn't been started.")
        return EngineInfo("scripted", "scripted", self.dialect, self.context, "a test")

    async def start(self) -> None:
        self.starts = 1

    async def close(self) -> None:
        self.closes = 1

    async def count(self, prompt: Prompt) -> int:
        """Four characters are one token."""
        return -(-len(prompt.text) // 4)

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        reply = self._reply(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        over = False
        try:
            await self.gate.wait()
            for start in range(0, len(reply.text), reply.chunk):
                await asyncio.sleep(reply.pause)
                yield Chunk(reply.text[start : start + reply.chunk])
            over = True
            if reply.error:
                raise reply.error
            tokens = -(-len(reply.text) // 4)
            prompt = await self.count(request.prompt)
            yield Chunk("", Finish(reply.reason, prompt, prompt, tokens))
        finally:
            self.running -= 1
            if not over:
                self.cancelled.append(request)

    def _reply(self, request: Request) -> Scripted:
        entry = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        said = entry(request) if callable(entry) else entry
        match said:
            case str():
                return Scripted(said)
            case EngineError():
                return Scripted("", error=said)
            case _:
                return said
