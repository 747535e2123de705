"""A store that counts the turns that are read from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.scenes.turn_selection import WHOLE_STORY
from bot.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.turn import Turn
    from bot.scenes.turn_selection import TurnSelection
    from bot.store.database import Database


class CountingStore(Store):
    """A Store. `turns_read` is the number of turns that its reading methods have returned."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.turns_read = 0

    async def turns(self, scene_id: int, selection: TurnSelection = WHOLE_STORY) -> list[Turn]:
        """Return the selected turns of the story in order."""
        return self._count(await super().turns(scene_id, selection))

    async def latest_turns(
        self, scene_id: int, most: int, selection: TurnSelection = WHOLE_STORY
    ) -> list[Turn]:
        """Return up to `most` of the selected turns from the end of the story, in order."""
        return self._count(await super().latest_turns(scene_id, most, selection))

    async def turns_by_id(self, turn_ids: Sequence[int]) -> list[Turn]:
        """Return the turns with these ids that exist."""
        return self._count(await super().turns_by_id(turn_ids))

    async def latest_replies(self, scene_id: int, characters: Sequence[str]) -> list[Turn]:
        """Return the latest reply of each of these characters."""
        return self._count(await super().latest_replies(scene_id, characters))

    async def latest_settings(self, scene_id: int, before: int | None = None) -> list[Turn]:
        """Return the latest change of each part of the setting."""
        return self._count(await super().latest_settings(scene_id, before))

    def _count(self, turns: list[Turn]) -> list[Turn]:
        self.turns_read += len(turns)
        return turns
