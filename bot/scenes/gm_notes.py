"""Notes that game masters give to minds, and a look at a mind's thoughts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.errors import Refused, Remedy
from bot.library.normalise import is_blank
from bot.scenes.cast import find_part, require_gm
from bot.scenes.note import NewNote
from bot.scenes.reveal import Audience, release_to_gm
from bot.scenes.scene_queries import HiddenThoughts

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.scenes.note import Note
    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre

MAX_NOTES: Final = 25
MAX_NOTE_LENGTH: Final = 500
"""In characters. Every prompt contains the notes, so more would crowd out the story."""


class GmNotes:
    """Manages a scene's notes for game masters. Methods raise Refused for other people."""

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        generator: ReplyGenerator,
        now: Callable[[], datetime],
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._generator = generator
        self._now = now

    async def note(self, scene: Scene, name: str | None, text: str, by: int) -> Note:
        """Add a note for a character, or without a name for all, that lasts until it is removed."""
        require_gm(scene, by)
        character = find_part(scene, name).character if name else None
        if is_blank(text) or len(text.strip()) > MAX_NOTE_LENGTH:
            raise Refused(
                f"A note must have 1 to {MAX_NOTE_LENGTH} characters, because every prompt "
                "contains it."
            )
        if len(await self._store.notes(scene.id)) >= MAX_NOTES:
            raise Refused(f"The scene already has {MAX_NOTES} notes.", Remedy.LIST_NOTES)
        return await self._store.add_note(
            scene.id, NewNote(by, character, text.strip()), self._now()
        )

    async def notes(self, scene: Scene, by: int) -> list[Note]:
        """Return the notes, the oldest first. A note's number is its place, from 1."""
        require_gm(scene, by)
        return await self._store.notes(scene.id)

    async def remove(self, scene: Scene, number: int, by: int) -> Note:
        """Remove and return the note with that number."""
        notes = await self.notes(scene, by)
        if not 1 <= number <= len(notes):
            raise Refused(f"Note {number} does not exist.", Remedy.LIST_NOTES)
        await self._store.remove_note(notes[number - 1].id)
        return notes[number - 1]

    async def think(self, scene: Scene, name: str, by: int) -> HiddenThoughts:
        """Return a character's current thoughts, released to the game master who asks.

        The character takes no turn. Raises Refused if a player has the part, EmptyReply and
        EngineError.
        """
        require_gm(scene, by)
        part = find_part(scene, name)
        if part.player_id is not None:
            raise Refused(f"A player has the part of {part.character}. Ask them instead.")
        assembled = await self._theatre.minds.assemble(scene, part.character)
        thoughts = await self._generator.think(scene, part.character, assembled)
        return HiddenThoughts(part.character, Audience.GM, release_to_gm(thoughts))
