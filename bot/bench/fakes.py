"""An engine that recites and a stage in memory: what the bench of the bot plays with."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.engine.protocol import Chunk, Dialect, EngineInfo, Finish, FinishReason
from bot.posting.render import render_gm_messages, render_public_messages
from bot.scenes.reveal import Audience

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bot.engine.protocol import Request
    from bot.her.beats import PublicBeat
    from bot.her.prompt import Prompt
    from bot.scenes.notices import Notice
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_TOKEN: Final = 4  # characters
_PLAN: Final = (
    "The {0}. thing that she must not see is how much it matters to him, so he lets her wait. "
)
_BEATS: Final = (
    "<role_thinking>She would laugh {0} times if she knew, and better that than to be pitied.</role_thinking>"
    "<role_action>turns page {0} without having read it, and looks over the edge of the paper</role_action>"
    "You have been out in the rain for {0} hours, I see. I hope that the mud was worth the walk. "
)


def _recited(phrase: str, times: int) -> str:
    return "".join(phrase.format(number) for number in range(1, times + 1))


REPLY: Final = f"{_recited(_PLAN, 8)}</system_thinking>{_recited(_BEATS, 6)}"
"""Six hundred tokens, about as long as HER's replies are."""


@dataclass
class RecitingEngine:
    """An Engine that gives the same reply to everyone, a token every `pause` seconds."""

    pause: float = 0.0
    asked: int = 0

    @property
    def info(self) -> EngineInfo:
        """What runs: nothing."""
        return EngineInfo("understudy", "understudy", Dialect.HER, 32768, "none", minds=8)

    async def start(self) -> None:
        """Nothing has to be made ready."""

    async def close(self) -> None:
        """Nothing is held."""

    async def count(self, prompt: Prompt) -> int:
        """Return about how many tokens `prompt` has."""
        return len(prompt.text) // _TOKEN

    async def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream the reply."""
        self.asked += 1
        for start in range(0, len(REPLY), _TOKEN):
            await asyncio.sleep(self.pause)
            yield Chunk(REPLY[start : start + _TOKEN])
        tokens = await self.count(request.prompt)
        yield Chunk("", Finish(FinishReason.STOP, tokens, tokens, len(REPLY) // _TOKEN))


class NullDelivery:
    """A Stage that makes every message as Discord would get it, and shows it to nobody."""

    def __init__(self) -> None:
        self.delivered = 0

    @asynccontextmanager
    async def thinking(self, _scene: Scene, _turn: Turn) -> AsyncIterator[None]:
        """Show nothing."""
        yield

    async def progress(self, _scene: Scene, _turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Make the messages of what has settled."""
        render_public_messages(beats)

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Make the messages of a finished reply."""
        render_public_messages(scene.reveal.shown(take.beats))
        self.delivered += 1
        render_gm_messages(turn.speaker, scene.reveal.freed(take.beats, Audience.GM))

    async def withdraw(self, _scene: Scene, _turn: Turn) -> None:
        """Nothing shows."""

    async def cover(self, _scene: Scene, _turn: Turn) -> None:
        """Nothing shows."""

    async def fail(self, _scene: Scene, _turn: Turn, _sentence: str) -> None:
        """Nobody is there to be told; what was not delivered is missed."""

    async def announce(self, _scene: Scene, _notice: Notice) -> None:
        """Show nothing."""
