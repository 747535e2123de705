"""Replacements for the model and for Discord in the benchmark of the bot."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.engine.protocol import Chunk, Dialect, EngineInfo, Finish, FinishReason
from bot.posting.render import render_gm_messages, render_public_messages
from bot.scenes.prefetch import find_shared_text
from bot.scenes.reveal import Audience

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bot.engine.protocol import Request
    from bot.her.beats import PrivateBeat, PublicBeat
    from bot.her.prompt import Prompt
    from bot.scenes.notices import Notice
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_CHARACTERS_PER_TOKEN: Final = 4
_PLANNING: Final = (
    "The {0}. thing that she must not see is how much it matters to him, so he lets her wait. "
)
_BEATS: Final = (
    "<role_thinking>She would laugh {0} times if she knew, and better that than to be pitied."
    "</role_thinking><role_action>turns page {0} without having read it, and looks over the edge"
    " of the paper</role_action>"
    "You have been out in the rain for {0} hours, I see. I hope that the mud was worth the walk. "
)


def _repeat(phrase: str, times: int) -> str:
    return "".join(phrase.format(number) for number in range(1, times + 1))


REPLY: Final = f"{_repeat(_PLANNING, 8)}</system_thinking>{_repeat(_BEATS, 6)}"
"""A reply of 600 tokens, which is about the length of HER's replies."""

MEMORY: Final = "She came in out of the rain and asked for him, and he let her wait for an answer."
SHORT_REPLY: Final = f"{_PLANNING.format(1)}</system_thinking>{_BEATS.format(1)}"


@dataclass
class FixedReplyEngine:
    """An Engine that always gives the same reply, one token every `token_seconds`."""

    token_seconds: float = 0.0

    @property
    def info(self) -> EngineInfo:
        """A description that names no model."""
        return EngineInfo("fixed reply", "fixed reply", Dialect.HER, 32768, "none", minds=8)

    async def start(self) -> None:
        """Return at once."""

    async def close(self) -> None:
        """Return at once."""

    async def count(self, prompt: Prompt) -> int:
        """Return an estimate of the tokens in `prompt`."""
        return len(prompt.text) // _CHARACTERS_PER_TOKEN

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream the reply."""
        for start in range(0, len(REPLY), _CHARACTERS_PER_TOKEN):
            await asyncio.sleep(self.token_seconds)
            yield Chunk(REPLY[start : start + _CHARACTERS_PER_TOKEN])
        prompt_tokens = await self.count(request.prompt)
        reply_tokens = len(REPLY) // _CHARACTERS_PER_TOKEN
        yield Chunk("", Finish(FinishReason.STOP, prompt_tokens, prompt_tokens, reply_tokens))


class CachingEngine:
    """An Engine that gives a short reply at once and remembers what each mind has read.

    It counts prompt tokens as an engine with a prefix cache does.
    """

    def __init__(self, context: int) -> None:
        self._context = context
        self._texts: dict[str, str] = {}  # by mind, its last prompt
        self.forget_counts()

    def forget_counts(self) -> None:
        """Start counting at zero. The caches stay."""
        self.replies = 0
        self.prompt_tokens = 0
        self.tokens_read = 0

    @property
    def info(self) -> EngineInfo:
        """A description that names no model."""
        return EngineInfo("cache", "cache", Dialect.HER, self._context, "none", minds=8)

    async def start(self) -> None:
        """Return at once."""

    async def close(self) -> None:
        """Return at once."""

    async def count(self, prompt: Prompt) -> int:
        """Return an estimate of the tokens in `prompt`."""
        return len(prompt.text) // _CHARACTERS_PER_TOKEN

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream the reply. A memory is short, and its prompt does not count."""
        if request.background:
            yield Chunk(MEMORY, Finish(FinishReason.STOP, 1, 1, 1))
            return
        text = request.prompt.text
        cached = len(find_shared_text(self._texts.get(request.mind, ""), text))
        self._texts[request.mind] = text
        prompt = len(text) // _CHARACTERS_PER_TOKEN
        read = prompt - cached // _CHARACTERS_PER_TOKEN
        self.replies += 1
        self.prompt_tokens += prompt
        self.tokens_read += read
        yield Chunk(SHORT_REPLY)
        reply_tokens = len(SHORT_REPLY) // _CHARACTERS_PER_TOKEN
        yield Chunk("", Finish(FinishReason.STOP, prompt, read, reply_tokens))


class NullDelivery:
    """A delivery that renders every message for Discord but does not send it."""

    def __init__(self) -> None:
        self.delivered = 0

    @asynccontextmanager
    async def show_thinking(self, _scene: Scene, _turn: Turn) -> AsyncIterator[None]:
        """Show no typing indicator."""
        yield

    async def progress(self, _scene: Scene, _turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Render the beats that are complete."""
        render_public_messages(beats)

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Render a finished reply."""
        render_public_messages(scene.reveal.select_for_channel(take.beats, take.destinations))
        self.delivered += 1
        render_gm_messages(
            turn.speaker, scene.reveal.release(take.beats, Audience.GM, take.destinations)
        )

    async def withdraw(self, _scene: Scene, _turn: Turn) -> None:
        """Show no change."""

    async def remove_posts(self, _scene: Scene, _turn: Turn) -> None:
        """Remove nothing."""

    async def cover(self, _scene: Scene, _turn: Turn) -> None:
        """Show no change."""

    async def fail(self, _scene: Scene, _turn: Turn, _sentence: str) -> None:
        """Leave the reply out of `delivered`."""

    async def show_thoughts(
        self, _scene: Scene, _turn: Turn, _beats: tuple[PrivateBeat, ...]
    ) -> None:
        """Show no thoughts."""

    async def tell(self, _scene: Scene, _user_id: int, _notice: Notice) -> None:
        """Show nothing."""

    async def announce(self, _scene: Scene, _notice: Notice) -> None:
        """Show no notice."""
