"""The parts that a prompt is made of: everything that one mind brings to its next turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.scenes.turn import Turn


@dataclass(frozen=True, slots=True, repr=False)
class Recollection:
    """What one mind remembers before its next turn.

    `turns` are the latest turns that it heard, in order. `prompt_assembly.assemble_prompt` decides
    how many of them the prompt contains.
    """

    turns: tuple[Turn, ...] = ()
    settings: tuple[Turn, ...] = ()  # changes of the setting, the later one of a part counts
    notes: tuple[str, ...] = ()  # the game masters' notes for it, the oldest first
    memory: str = ""  # what it remembers of earlier turns, within its share of the context
    people: tuple[str, ...] = ()  # names of those who have spoken in the scene
    cut: bool = False  # whether earlier turns are missing
    prepared_to: int = 0  # id of the last of `turns` for which a memory was prepared
