"""The delivery that scenes need. Discord, the terminal and the benchmark implement it.

The interface keeps the domain independent of Discord.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from bot.her.beats import PrivateBeat, PublicBeat
    from bot.scenes.notices import Notice
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn


class Delivery(Protocol):
    """Shows a scene to its people. Methods raise PostingError if Discord rejects a post."""

    def show_thinking(self, scene: Scene, turn: Turn) -> AbstractAsyncContextManager[None]:
        """Return a context during which people see that the character is about to speak."""
        ...

    async def progress(self, scene: Scene, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Accept the public beats that are final so far. Cheap; may show them later."""
        ...

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Post a finished turn and the beats that the reveal policy releases. Idempotent."""
        ...

    async def withdraw(self, scene: Scene, turn: Turn) -> None:
        """Remove the posts of a reply that will not be finished. Show the turn's take if any."""
        ...

    async def remove_posts(self, scene: Scene, turn: Turn) -> None:
        """Delete everything that shows a turn, after one of its messages was deleted."""
        ...

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Mark a reply as removed from the story. Its posts stay."""
        ...

    async def fail(self, scene: Scene, turn: Turn, sentence: str) -> None:
        """Report a failed turn in the channel, with a way to try again."""
        ...

    async def show_thoughts(self, scene: Scene, turn: Turn, beats: tuple[PrivateBeat, ...]) -> None:
        """Show the thoughts of a reply without words to those who see them by `scene.reveal`.

        Called after the failure was reported.
        """
        ...

    async def announce(self, scene: Scene, notice: Notice) -> None:
        """Show a notice in the channel, with its remedy in the interface's words."""
        ...

    async def tell(self, scene: Scene, user_id: int, notice: Notice) -> None:
        """Show a notice to one person, in private."""
        ...
