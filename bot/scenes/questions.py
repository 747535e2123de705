"""Plain questions to the engine: short answers that are no character's, such as who speaks next or how the wind blows.

HER was trained to play characters and nothing else, so these prompts are plain chat and ask for very little.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.engine.protocol import Request, Sampling
from bot.her.chatml import STOPS, render_chatml
from bot.her.layout import Message, Role, format_others_history
from bot.scenes.mind import select_public_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import Engine
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

_MOST_TURNS = 12
_LONGEST_TURN = 600  # characters


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: how to answer, what to answer about, and how long and in which form the answer may be."""

    name: str  # whose the answer is, in the key by which the engine remembers prompts
    manner: str
    about: str
    max_tokens: int
    seed: int
    grammar: str
    sampling: Sampling | None = None


async def ask_engine(engine: Engine, scene: Scene, question: Question) -> str:
    """Return the engine's answer, held to the grammar where the engine can. Raises EngineError."""
    messages = (Message(Role.SYSTEM, question.manner), Message(Role.USER, question.about))
    request = Request(
        prompt=render_chatml(messages, prefill="", empty_think=True),
        mind=f"{scene.id}/({question.name})",
        guild=str(scene.place.guild_id),
        sampling=question.sampling,
        seed=question.seed,
        max_tokens=question.max_tokens,
        planning_tokens=None,
        stop=STOPS,
        grammar=question.grammar if engine.info.supports_grammar else None,
    )
    async with aclosing(engine.generate(request)) as chunks:
        return "".join([chunk.text async for chunk in chunks])


def describe_latest(scene: Scene, turns: Sequence[Turn]) -> str:
    """Return what was last said and done for all to hear, a paragraph each. No thought and no whisper is in it."""
    names = [character.name for character in scene.scenario.characters]
    told = (select_public_line(turn) for turn in turns[-_MOST_TURNS:])
    lines = (format_others_history(line.speaker, line.beats, names) for line in told if line)
    return "\n\n".join(line[:_LONGEST_TURN] for line in lines if line)
