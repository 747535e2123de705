"""Memories: what a mind keeps of turns that no longer fit its prompt.

They have three layers. A memory of turns rests on a block of turns. A chapter rests on some of
those, and the memory of the whole rests on the oldest chapters.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence


class MemoryLayer(IntEnum):
    """The layers of memory. The values are stored in the database."""

    TURNS = 0
    CHAPTER = 1
    WHOLE = 2


_LOOSE: Final = {MemoryLayer.TURNS: 6, MemoryLayer.CHAPTER: 3}
"""Latest memories of a layer at which the oldest of them become one of the next layer."""

_GROUP: Final = {MemoryLayer.TURNS: 4, MemoryLayer.CHAPTER: 2}
"""Memories of a layer that become one of the next layer together."""


@dataclass(frozen=True, slots=True, repr=False)
class MindMemory:
    """A character's memory of the turns from `first_id` to `last_id` that it heard.

    The text is private: it may tell the character's thoughts. It is empty if the memory was not
    written yet, or if one of its turns has changed since. Each such change raises `revision`.
    """

    id: int
    layer: MemoryLayer
    first_id: int
    last_id: int
    text: str = ""
    revision: int = 0
    turn_ids: tuple[int, ...] = ()  # the turns that a memory of turns rests on


@dataclass(frozen=True, slots=True, repr=False)
class NewMemory:
    """A memory before it is stored."""

    layer: MemoryLayer
    first_id: int
    last_id: int
    text: str = ""


BLOCK_SHARE: Final = 0.5
"""The largest share of the room for turns whose turns become one memory."""


def split_into_blocks(sizes: Sequence[tuple[int, int]], room: int) -> list[tuple[int, int]]:
    """Return the ids of the first and last turn of each block of turns.

    `sizes` has the ids of the turns and their lengths, `room` the length of the turns that fit a
    prompt.
    """
    blocks: list[tuple[int, int]] = []
    length = 0
    for turn_id, size in sizes:
        if blocks and length + size <= BLOCK_SHARE * room:
            blocks[-1] = (blocks[-1][0], turn_id)
            length += size
        else:
            blocks.append((turn_id, turn_id))
            length = size
    return blocks


def choose_group(memories: Sequence[MindMemory]) -> tuple[MindMemory, ...]:
    """Return the memories that should become one of the next layer now, if any.

    `memories` are those that are not part of another, in the order of the story. A group never
    spans a memory of another layer or an unwritten one. The memory of the whole takes up the
    chapters after it.
    """
    runs = [tuple(run) for _, run in groupby(memories, lambda one: (one.layer, bool(one.text)))]
    for number, run in enumerate(runs):
        layer = run[0].layer
        if layer is MemoryLayer.WHOLE or not run[0].text:
            continue
        is_gap = any(later[0].layer > layer for later in runs[number + 1 :])
        if len(run) < _LOOSE[layer] and not is_gap:
            continue
        if layer is MemoryLayer.TURNS or number == 0:
            return run[: _GROUP[layer]]
        if runs[number - 1][0].layer is MemoryLayer.WHOLE:
            return (*runs[number - 1], *run[: _GROUP[layer]])
    return ()
