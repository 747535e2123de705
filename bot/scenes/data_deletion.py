"""Forgetting: what a person said leaves the store at their word, and with it what was posted of it on their behalf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.posts import Post
    from bot.scenes.scene import Place
    from bot.scenes.takes import Takes


class PeopleStore(Protocol):
    """Remembers who said what. Raises StoreError."""

    async def posts_of(self, user_id: int) -> Sequence[tuple[Place, Post]]:
        """Return our messages that show this person's words and nothing else, each with where it stands."""
        ...

    async def forget_person(self, user_id: int) -> int:
        """Delete everything this person said; return how many lines."""
        ...


class Eraser(Protocol):
    """Takes messages away."""

    async def erase(self, place: Place, post: Post) -> None:
        """Take one of our messages away, as far as that is possible. Raises nothing."""
        ...


class DataDeletion:
    """Forgets people. Their own messages are theirs, and stay."""

    def __init__(self, store: PeopleStore, eraser: Eraser, takes: Takes) -> None:
        self._store = store
        self._eraser = eraser
        self._takes = takes

    async def forget(self, user_id: int) -> int:
        """Delete everything this person said, also what was posted under a character's name or in a direct message;
        return how many lines. A reply they had rewritten shows what it said before."""
        posts = await self._store.posts_of(user_id)
        lines = await self._store.forget_person(user_id)
        for place, post in posts:
            await self._eraser.erase(place, post)
        await self._takes.align_all()
        return lines
