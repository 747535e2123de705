"""An engine that records each reply with its time and token counts."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.protocol import Chunk, Engine, EngineInfo, Finish, Request
    from bot.her.prompt import Prompt


@dataclass(frozen=True, slots=True, repr=False)
class RecordedReply:
    """One reply: the prompt's prefill and the generated text, and how long it took.

    `prompt` is the prompt's text without the prefill, with control tokens spelt out.
    """

    raw: str
    seconds: float
    tokens: int
    forced_planning_end: bool = False
    prompt: str = ""


class RecordingEngine:
    """An Engine that passes everything on to another one, which stays its owner's."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.replies: list[RecordedReply] = []

    @property
    def info(self) -> EngineInfo:
        """The other engine's model."""
        return self._engine.info

    async def start(self) -> None:
        """Start the other engine."""
        await self._engine.start()

    async def close(self) -> None:
        """Do nothing: the owner closes the other engine."""

    async def count(self, prompt: Prompt) -> int:
        """Return how many tokens `prompt` has."""
        return await self._engine.count(prompt)

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream one reply and record it, also if the reader stops it before its end."""
        began = time.monotonic()
        text = [request.prompt.prefill]
        pieces = 0
        finish: Finish | None = None
        try:
            async with aclosing(self._engine.generate(request)) as chunks:
                async for chunk in chunks:
                    text.append(chunk.text)
                    pieces += bool(chunk.text)
                    finish = chunk.finish
                    yield chunk
        finally:
            tokens = finish.reply_tokens if finish else pieces  # a stopped stream has no counts
            forced = finish is not None and finish.planning_closed_by_force
            seconds = time.monotonic() - began
            prompt = request.prompt.text.removesuffix(request.prompt.prefill)
            self.replies.append(RecordedReply("".join(text), seconds, tokens, forced, prompt))
