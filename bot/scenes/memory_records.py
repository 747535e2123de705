"""The part of the store that keeps memories; see `bot.scenes.scene_store`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bot.scenes.turn_selection import WHOLE_STORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.memories import MindMemory, NewMemory
    from bot.scenes.turn_selection import TurnSelection


class MemoryRecords(Protocol):
    """Stores memories.

    If a turn changes, leaves the story or comes back, the texts of the memories that rest on it are
    erased, and the memories that rest on those are deleted, in the same transaction.
    """

    async def memories(
        self, scene_id: int, character: str, within: int | None = None
    ) -> list[MindMemory]:
        """Return a mind's memories that are part of no other, in the order of the story.

        With `within`, return those that are part of the memory with that id.
        """
        ...

    async def block_before(self, scene_id: int, character: str, turn_id: int) -> MindMemory | None:
        """Return a mind's last memory of turns that begins before this turn, if any."""
        ...

    async def add_memory(self, scene_id: int, character: str, memory: NewMemory) -> None:
        """Store a memory, written or not. Ignored if its turns have a memory of that layer."""
        ...

    async def write_memory(self, memory: MindMemory, text: str, turn_ids: Sequence[int]) -> bool:
        """Store the text of a memory and the turns that it rests on.

        Return False and store nothing if the memory has changed meanwhile.
        """
        ...

    async def join_memories(self, parts: Sequence[MindMemory], joined: NewMemory) -> bool:
        """Store a memory of which `parts` become part. It replaces a part of its own layer.

        Return False and store nothing if one of the parts has changed meanwhile.
        """
        ...

    async def forget_memory(self, memory_id: int) -> None:
        """Delete a memory, and those that rest on it."""
        ...

    async def measure_turns(
        self, scene_id: int, character: str, selection: TurnSelection = WHOLE_STORY
    ) -> list[tuple[int, int]]:
        """Return the id and the length in characters of each selected turn, in order.

        Planning does not count, and neither do the thoughts of others than this character.
        """
        ...
