"""The prompter: what a game master has minds bear in mind, and what one of them thinks. Nobody else hears of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.errors import Refused, Remedy
from bot.library.normalise import is_blank
from bot.scenes import cast
from bot.scenes.interfaces import NewNote
from bot.scenes.reveal import Audience, release_to_gm
from bot.scenes.theatre import HiddenThoughts, require_gm

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.scenes.interfaces import Note, SceneStore
    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre

MOST_NOTES: Final = 25
LONGEST_NOTE: Final = 500
"""Notes stand in every prompt: more, or longer ones, would crowd out the story."""


class GmNotes:
    """Whispers from the prompt box. Methods take who asks, and raise Refused for all but game masters."""

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        performance: ReplyGenerator,
        now: Callable[[], datetime],
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._performance = performance
        self._now = now

    async def note(self, scene: Scene, name: str | None, text: str, by: int) -> Note:
        """Have a character, or with None all of them, bear something in mind until it is removed."""
        require_gm(scene, by)
        character = cast.find_part(scene, name).character if name else None
        if is_blank(text) or len(text.strip()) > LONGEST_NOTE:
            raise Refused(
                f"A note must have 1 to {LONGEST_NOTE} characters, because every prompt contains it."
            )
        if len(await self._store.notes(scene.id)) >= MOST_NOTES:
            raise Refused(f"The scene already has {MOST_NOTES} notes.", Remedy.LIST_NOTES)
        return await self._store.add_note(
            scene.id, NewNote(by, character, text.strip()), self._now()
        )

    async def notes(self, scene: Scene, by: int) -> list[Note]:
        """Return the standing notes, in the order they were made; their numbers are their places in it, from 1."""
        require_gm(scene, by)
        return await self._store.notes(scene.id)

    async def remove(self, scene: Scene, number: int, by: int) -> Note:
        """Remove the note of that number, and return it."""
        notes = await self.notes(scene, by)
        if not 1 <= number <= len(notes):
            raise Refused(f"Note {number} does not exist.", Remedy.LIST_NOTES)
        await self._store.remove_note(notes[number - 1].id)
        return notes[number - 1]

    async def think(self, scene: Scene, name: str, by: int) -> HiddenThoughts:
        """Return what a character thinks now, freed for the game master who asks. It takes no turn and says nothing.

        Raises Refused where a player has the part, NoWords and EngineError.
        """
        require_gm(scene, by)
        part = cast.find_part(scene, name)
        if part.player_id is not None:
            raise Refused(f"A player has the part of {part.character}. Ask them instead.")
        story, notes = await self._theatre.read_mind(scene, part.character)
        thoughts = await self._performance.think(scene, part.character, story, notes)
        return HiddenThoughts(part.character, Audience.GM, release_to_gm(thoughts))
