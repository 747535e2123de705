"""The store that scenes need. `bot.store.store.Store` implements it.

The interface keeps the domain independent of SQLite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bot.scenes.memory_records import MemoryRecords
from bot.scenes.take_records import TakeRecords
from bot.scenes.turn_records import TurnRecords

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.her.beats import Beat
    from bot.library.scenario import Scenario
    from bot.scenes.note import NewNote, Note
    from bot.scenes.opening import Opening
    from bot.scenes.scene import Part, Place, Scene
    from bot.scenes.silences import Silences


class SceneStore(TurnRecords, TakeRecords, MemoryRecords, Protocol):
    """Stores scenes, casts, turns, takes, memories and notes.

    Every method is one transaction. Every method raises StoreError.
    """

    async def add_scene(
        self,
        place: Place,
        scenario: Scenario,
        gm_ids: Sequence[int],
        parts: Sequence[Part],
        now: datetime,
    ) -> Scene:
        """Store a new scene. Raises Refused if a scene is under way in that channel."""
        ...

    async def save_scene(self, scene: Scene, now: datetime) -> None:
        """Store a scene's state, game masters, parts, reveal policy and flags.

        The times at which silences begin and end are stored too. Raises StoreError if the scene is
        gone, and Refused if it is reopened while another one is under way there.
        """
        ...

    async def delete_scene(self, scene_id: int) -> None:
        """Delete a scene and everything that belongs to it."""
        ...

    async def move_scene(self, scene: Scene, heard: int, now: datetime) -> None:
        """Store that an ended scene continues at its new place.

        The scene does not hear messages of the new channel up to the id `heard`. Lines from a
        terminal become those of the scene's first game master. Raises Refused if the scene is
        already under way, or another one is at that place.
        """
        ...

    async def open_scenes(self) -> list[Scene]:
        """Return every scene that has not ended."""
        ...

    async def latest_scenes(self, most: int) -> list[Scene]:
        """Return up to `most` stored scenes in any state, the latest first."""
        ...

    async def find_resting_scenes(self, guild_id: int, gm_ids: Sequence[int]) -> list[Scene]:
        """Return the scenes that one of these game masters can reopen in that server.

        These are the ended scenes of the server, and the scenes at a terminal. The latest comes
        first.
        """
        ...

    async def scene(self, scene_id: int) -> Scene | None:
        """Return a scene in any state, if it exists."""
        ...

    async def silences_at(self, scene_id: int, moment: datetime) -> Silences:
        """Return the silences that a scene had at that moment."""
        ...

    async def branch(self, scene: Scene, last_id: int, place: Place, now: datetime) -> Scene:
        """Store a scene at `place` with a copy of everything up to the turn `last_id`.

        People's lines keep their authors. Raises Refused if a scene is under way there.
        """
        ...

    async def add_note(self, scene_id: int, note: NewNote, now: datetime) -> Note:
        """Store a game master's note."""
        ...

    async def notes(self, scene_id: int) -> list[Note]:
        """Return a scene's notes, the oldest first."""
        ...

    async def remove_note(self, note_id: int) -> None:
        """Delete a note, if it still exists."""
        ...

    async def note_explained(self, user_id: int) -> bool:
        """Store that a person was told that characters can't see pictures.

        Return False if they were told before.
        """
        ...

    async def set_insight(self, scene_id: int, character: str, difficulty: int | None) -> None:
        """Store how difficult it is to read this character's thoughts, or that no one may try."""
        ...

    async def insight_difficulty(self, scene_id: int, character: str) -> int | None:
        """Return how difficult it is to read this character's thoughts, if players may try."""
        ...

    async def save_insight(
        self, opening: Opening, now: datetime, *, opened: bool, once: bool = False
    ) -> bool:
        """Store that a take's thoughts were opened to a player, or that their attempt failed.

        With `once`, do nothing and return False if the player has tried this turn, or knows it.
        """
        ...

    async def read_opened_thoughts(self, turn_id: int, reader_id: int) -> tuple[Beat, ...]:
        """Return the thoughts of a turn, in any of its takes, that were opened to this player."""
        ...
