"""What takes and undoing need from the store, beyond what every scene needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bot.scenes.interfaces import SceneStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.her.beats import Beat
    from bot.scenes.scene import Place, Scene
    from bot.scenes.turn import Turn


class TakeStore(SceneStore, Protocol):
    """Remembers the alternatives of turns, and what was undone. Every method is one transaction; all raise
    StoreError."""

    async def choose_take(self, turn_id: int, take_id: int) -> Turn:
        """Make a take of a turn that is done its current one."""
        ...

    async def rewrite(self, turn_id: int, beats: Sequence[Beat], text: str, author_id: int) -> Turn:
        """Give a turn a take that a person wrote, and make it the current one."""
        ...

    async def undo(self, scene_id: int, turn_ids: Sequence[int], now: datetime) -> list[Turn]:
        """Take these turns out of the story, together, so that `restore` can bring them back. Those that are not done
        leave for good. Return what was undone."""
        ...

    async def last_undone(self, scene_id: int) -> int | None:
        """Return the moment of what was undone last and is not restored, in microseconds since 1970."""
        ...

    async def restore(self, scene_id: int, moment: int) -> list[Turn]:
        """Bring back what was undone together at that moment; return it."""
        ...

    async def misplaced(self) -> list[Turn]:
        """Return the turns of scenes under way whose posts don't show what has become of them: another take than the
        current one, or one that is undone. The program was stopped in between."""
        ...

    async def branch(self, scene: Scene, last_id: int, place: Place, now: datetime) -> Scene:
        """Store a scene that begins at another place with a copy of everything of this one up to a turn. Raises
        Refused where one is under way there."""
        ...
