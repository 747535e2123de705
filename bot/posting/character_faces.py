"""Finds the picture that a character posts under."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from bot.posting.monograms import assign_monograms, draw_monogram

if TYPE_CHECKING:
    from bot.library.library import Face
    from bot.posting.hosted_pictures import HostedPictures
    from bot.scenes.scene import OwnCopy, Scene


class Faces(Protocol):
    """Finds the pictures of characters. Called in a thread because it may read files."""

    def face(self, scenario_id: str, character: str, /) -> Face | None:
        """Return a character's picture as an https address or a file's bytes, or None."""
        ...


class OwnPictures(Protocol):
    """Stores the pictures of people's own characters."""

    async def picture_of(self, own_id: int) -> bytes | None:
        """Return a character's uploaded picture as a PNG."""
        ...


class CharacterFaces:
    """The pictures of scenes' characters. A character without one has a monogram."""

    def __init__(self, faces: Faces, own_pictures: OwnPictures, hosted: HostedPictures) -> None:
        self._faces = faces
        self._own_pictures = own_pictures
        self._hosted = hosted

    async def find(self, scene: Scene, speaker: str) -> Face | None:
        """Return the picture of a speaker: an https address, or the bytes of a PNG.

        The bytes need a webhook of their own. Return None if Discord takes no picture now.
        """
        part = scene.find_part(speaker)
        if part is not None and part.own is not None:
            face = await self._find_own(part.own)
        else:
            face = await asyncio.to_thread(self._faces.face, scene.scenario.id, speaker)
        return face or await self._draw(scene, speaker)

    async def _find_own(self, own: OwnCopy) -> Face | None:
        picture = await self._own_pictures.picture_of(own.own_id)
        if picture is None:
            return own.character.face
        return await self._hosted.get_address(picture) or picture

    async def _draw(self, scene: Scene, speaker: str) -> str | None:
        names = [*(part.character for part in scene.parts), speaker]
        png = await asyncio.to_thread(draw_monogram, assign_monograms(names)[speaker])
        return await self._hosted.get_address(png, drawn=True)
