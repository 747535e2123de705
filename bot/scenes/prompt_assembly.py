"""Assembles the prompt of one mind within the model's context.

The parts are counted with the model's own tokenizer, all together. Profile and requirements are
always whole, and the latest turn and the notes always stay. Memory has a share of the rest. If the
turns do not fit, the oldest leave in one large block, so that the following prompts begin with the
same text and the engine reads only their end. A block whose memory was prepared leaves as such.

Whatever else a mind may remember (recalled turns, lore, pinned facts) belongs in `Recollection`,
with its share of the context here.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.errors import PromptTooLong
from bot.her.prompt import Prompt, Text
from bot.scenes import prompt_builder
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import Engine
    from bot.library.scenario import Scenario
    from bot.scenes.recollection import Recollection
    from bot.scenes.turn import Turn

KEPT_SHARE: Final = 0.5
"""The share of the room for turns that remains filled after the oldest turns have left.

Each token is then read about twice: once when it is new, and once when older turns leave.
"""

MEMORY_SHARE: Final = 0.2
"""The largest share of the context that memory has."""

MOST_CHARACTERS_PER_TOKEN: Final = 8
"""Above every language's average. It limits the turns that are read and counted."""

_STEP = 4  # further turns that leave if the estimate was too low


@dataclass(frozen=True, slots=True, repr=False)
class AssembledPrompt:
    """A prompt that fits the context."""

    prompt: Prompt
    recollection: Recollection  # all parts of the prompt
    tokens: int
    turn_tokens: int  # about how many of them are turns
    room: int  # how many of them could be turns


@dataclass(frozen=True, slots=True)
class PromptSource:
    """The scenario, the character, and the settings from which its prompts are built."""

    scenario: Scenario
    character: str
    empty_think: bool = False
    opening: str = ""  # the text of a turn that has already begun

    def build(self, engine: Engine, recollection: Recollection, first: int = 0) -> Prompt:
        """Return the prompt with the recollection's turns from the index `first`."""
        info = engine.info
        return prompt_builder.build_prompt(
            self.scenario,
            self.character,
            recollection.turns[first:],
            info.dialect,
            requirements=info.requirements,
            empty_think=self.empty_think,
            notes=recollection.notes,
            memory=recollection.memory,
            left_out=(*recollection.settings, *recollection.turns[:first]),
            opening=self.opening,
            prompt_format=info.prompt_format,
        )


async def assemble_prompt(
    source: PromptSource, recollection: Recollection, engine: Engine, reserved: int
) -> AssembledPrompt:
    """Return the prompt with as many of the latest turns as leave `reserved` tokens for the reply.

    Raises PromptTooLong if the parts that always stay leave no room, and EngineError.
    """
    budget = engine.info.context - reserved
    turns = recollection.turns
    last = max(0, len(turns) - 1)

    async def attempt(first: int) -> tuple[Prompt, int]:
        prompt = await asyncio.to_thread(source.build, engine, recollection, first)
        return prompt, await engine.count(prompt)

    first = _count_excess(turns, budget)
    prompt, tokens = await attempt(first)
    if tokens > budget:
        _, least = await attempt(last)
        if least > budget:
            raise _too_long(source.character, engine.info.context)
        first = _find_prepared(recollection, first) or max(
            first + 1, choose_first(turns[first:], tokens, least, budget) + first
        )
        prompt, tokens = await attempt(first)
        while tokens > budget:
            first = min(last, first + _STEP)
            prompt, tokens = await attempt(first)
    left_out = (turn for turn in turns[:first] if turn.kind is TurnKind.SETTING)
    kept = replace(
        recollection,
        turns=turns[first:],
        settings=(*recollection.settings, *left_out),
        cut=recollection.cut or first > 0,
    )
    turn_tokens = sum(map(measure_turn, kept.turns)) * tokens // len(prompt.text)
    return AssembledPrompt(prompt, kept, tokens, turn_tokens, budget - tokens + turn_tokens)


def _find_prepared(recollection: Recollection, first: int) -> int:
    """Return the index of the first turn after a prepared block, or 0 if there is no such block."""
    for index, turn in enumerate(recollection.turns):
        if index > first and turn.id > recollection.prepared_to:
            return index if recollection.prepared_to >= recollection.turns[first].id else 0
    return 0


async def fit_memory(parts: Sequence[str], engine: Engine) -> str:
    """Return these parts of a memory, the oldest first, within memory's share of the context.

    The first part, which tells the most, and the latest ones stay. Raises EngineError.
    """
    most = int(engine.info.context * MEMORY_SHARE)
    text = "\n".join(parts)
    if len(text) <= most or (tokens := await engine.count(Prompt((Text(text),)))) <= most:
        return text
    allowed = len(text) * most / tokens
    kept = list(parts)
    while len(kept) > 1 and len("\n".join(kept)) > allowed:
        del kept[min(1, len(kept) - 2)]
    return "\n".join(kept)[: int(allowed)]


def choose_first(turns: Sequence[Turn], tokens: int, least: int, budget: int) -> int:
    """Return the index of the first turn that stays when the oldest ones leave.

    `tokens` is the size of the prompt with all turns, `least` that with the last one only. The
    sizes of the turns are estimated from their lengths in characters.
    """
    lengths = [measure_turn(turn) for turn in turns]
    characters = sum(lengths[:-1])
    room = KEPT_SHARE * (budget - least)
    allowed = room * characters / max(1, tokens - least)
    for index in range(len(turns) - 2, -1, -1):
        allowed -= lengths[index]
        if allowed < 0:
            return index + 1
    return 0


def measure_turn(turn: Turn) -> int:
    """Return the length of a turn's text in characters, planning not included."""
    beats = turn.take.beats if turn.take else ()
    return len(turn.speaker) + sum(len(beat.text) for beat in beats if beat.kind != "planning")


def _count_excess(turns: Sequence[Turn], budget: int) -> int:
    """Return how many of the oldest turns can't fit for sure, so that they are not counted."""
    characters = 0
    for index in range(len(turns) - 1, -1, -1):
        characters += measure_turn(turns[index])
        if characters > budget * MOST_CHARACTERS_PER_TOKEN:
            return min(index + 1, len(turns) - 1)
    return 0


def _too_long(character: str, context: int) -> PromptTooLong:
    return PromptTooLong(
        f"The description of {character} and the latest line leave no room for a reply in the "
        f"model's context of {context} tokens. Shorten the scenario, or set a larger "
        "`engine.context`."
    )
