"""Write the transcript of a stored scene, reading its story in pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from bot.scenes.turn_selection import TurnSelection
from bot.transcript.transcript_content import TranscriptCharacter, describe_story
from bot.transcript.writing import write_transcript

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from bot.library.library import Library
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.turn import Turn
    from bot.transcript.format_name import FormatName
    from bot.transcript.transcript_content import Reader
    from bot.transcript.writing import TranscriptFile

PAGE: Final = 100
"""Turns that are read at once: few enough that the event loop never stalls."""


async def _ignore_progress(_turns: int) -> None:
    """Report nothing."""


class Transcripts:
    """Writes transcripts of the scenes in a store, with the faces of a library."""

    def __init__(self, store: SceneStore, library: Library) -> None:
        self._store = store
        self._library = library

    async def write(
        self,
        scene: Scene,
        reader: Reader,
        name: FormatName,
        *,
        max_bytes: int | None = None,
        on_progress: Callable[[int], Awaitable[None]] = _ignore_progress,
    ) -> AsyncIterator[TranscriptFile]:
        """Yield the files of a scene's transcript for one reader. See `write_transcript`.

        The caller checks that the reader may have all thoughts, if they ask for them.
        `on_progress` gets the number of turns that have been read, after each page.
        """
        characters = await asyncio.to_thread(self._list_characters, scene)
        files = write_transcript(
            self._read_story(scene, on_progress),
            describe_story(scene, characters),
            reader,
            name,
            stem=f"{scene.scenario.id}-{scene.id}",
            max_bytes=max_bytes,
        )
        async for file in files:
            yield file

    def _list_characters(self, scene: Scene) -> tuple[TranscriptCharacter, ...]:
        find_face = self._library.face
        return tuple(
            TranscriptCharacter(character.name, find_face(scene.scenario.id, character.name))
            for character in scene.scenario.characters
        )

    async def _read_story(
        self, scene: Scene, on_progress: Callable[[int], Awaitable[None]]
    ) -> AsyncIterator[Turn]:
        read = 0
        selection = TurnSelection(done=True)
        while page := await self._store.earliest_turns(scene.id, PAGE, selection):
            for turn in page:
                yield turn
            read += len(page)
            selection = TurnSelection(since=page[-1].id + 1, done=True)
            await on_progress(read)
