"""Deletes a person's data: their lines, the posts that showed their words, their characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.posts import Post
    from bot.scenes.running_scenes import RunningScenes
    from bot.scenes.scene import Place
    from bot.scenes.takes import Takes


class PeopleStore(Protocol):
    """The stored lines by person. Every method raises StoreError."""

    async def posts_of(self, user_id: int) -> Sequence[tuple[Place, Post]]:
        """Return our posts that show only this person's words, each with its place.

        These are narrations and whispers, and in ended scenes the replies that the person rewrote.
        """
        ...

    async def forget_person(self, user_id: int) -> int:
        """Delete what this person said, their own characters, and their parts in ended scenes.

        The own characters must have left the scenes under way. In those, the person keeps their
        part until they give it up. Return the number of deleted lines.
        """
        ...


class CharacterDeletion(Protocol):
    """Deletes people's own characters."""

    async def delete_all(self, owner_id: int) -> int:
        """Delete all characters of a person from the store and from every scene."""
        ...


class Eraser(Protocol):
    """Deletes messages."""

    async def erase(self, place: Place, post: Post) -> None:
        """Delete one of our messages if Discord allows it. Raises no error."""
        ...


class DataDeletion:
    """Deletes people's data. Messages that people posted themselves stay on Discord."""

    def __init__(
        self,
        *,
        scenes: RunningScenes,
        store: PeopleStore,
        characters: CharacterDeletion,
        eraser: Eraser,
        takes: Takes,
    ) -> None:
        self._characters = characters
        self._scenes = scenes
        self._store = store
        self._eraser = eraser
        self._takes = takes

    async def forget(self, user_id: int) -> tuple[int, int]:
        """Delete everything this person said, and their own characters.

        Return the number of lines and of characters.

        Posts of their words under a character's name or in a direct message go too. A reply that
        they had edited shows its earlier take again. Replies that answer only their lines are
        cancelled.
        """
        characters = await self._characters.delete_all(user_id)
        posts = await self._store.posts_of(user_id)
        lines = await self._store.forget_person(user_id)
        await self._scenes.drop_not_owed()
        for place, post in posts:
            await self._eraser.erase(place, post)
        await self._takes.align_all()
        return lines, characters
