"""Plain questions to the engine, such as the next speaker or a narration.

HER models were trained only to play characters. These prompts are therefore plain chat and ask for
very short answers.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.engine.protocol import Request, Sampling
from bot.her.chatml import STOPS
from bot.her.layout import Message, Role, format_others_history
from bot.scenes.mind import select_public_line
from bot.scenes.prompt_builder import render_prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import Engine
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

_MAX_TURNS = 12
_MAX_TURN_LENGTH = 600  # characters


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the engine, and the limits and form of the answer."""

    name: str  # identifies the question in the key of the engine's prompt cache
    manner: str  # the instruction, as the system message
    about: str  # the question, as the user's message
    max_tokens: int
    seed: int
    grammar: str
    sampling: Sampling | None = None
    background: bool = False  # whether the answer can wait until no reply is under way


async def ask_engine(engine: Engine, scene: Scene, question: Question) -> str:
    """Return the engine's answer, in the grammar if the engine supports one.

    Raises EngineError.
    """
    messages = (Message(Role.SYSTEM, question.manner), Message(Role.USER, question.about))
    request = Request(
        prompt=render_prompt(messages, engine.info.prompt_format, "", empty_think=True),
        mind=f"{scene.id}/({question.name})",
        guild=str(scene.place.guild_id),
        sampling=question.sampling,
        seed=question.seed,
        max_tokens=question.max_tokens,
        planning_tokens=None,
        stop=STOPS,
        grammar=question.grammar if engine.info.supports_grammar else None,
        background=question.background,
    )
    async with aclosing(engine.generate(request)) as chunks:
        return "".join([chunk.text async for chunk in chunks])


def describe_latest(scene: Scene, turns: Sequence[Turn]) -> str:
    """Return the latest public turns, a paragraph each. Thoughts and whispers are left out."""
    names = [character.name for character in scene.scenario.characters]
    lines = (select_public_line(turn) for turn in turns[-_MAX_TURNS:])
    texts = (format_others_history(line.speaker, line.beats, names) for line in lines if line)
    return "\n\n".join(text[:_MAX_TURN_LENGTH] for text in texts if text)
