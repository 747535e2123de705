"""The takes that a store keeps: the versions of a turn, and undone turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.her.beats import Beat
    from bot.scenes.reveal import Destination
    from bot.scenes.turn import Turn


class TakeRecords(Protocol):
    """Stores the takes and the states of turns, as part of a `SceneStore`."""

    async def keep_take(self, turn_id: int, beats: Sequence[Beat], raw: str, seed: int) -> Turn:
        """Store a take and make it the current one. The turn stays owed until it is delivered."""
        ...

    async def settle(self, turn_id: int) -> Turn:
        """Mark a turn done: its take was delivered. A hidden turn stays hidden."""
        ...

    async def fail(self, turn_id: int, fault: str, *, discard_take: bool = False) -> Turn:
        """Mark a turn failed, with the sentence shown to people.

        A hidden turn stays hidden. If the turn had an earlier take, that one is current again and
        the turn is done. With `discard_take`, the take that could not be delivered is deleted.
        """
        ...

    async def rethink(self, turn_id: int) -> Turn:
        """Mark a failed turn owed again. Other turns do not change."""
        ...

    async def retake(self, turn_id: int, *, lengthen: bool = False) -> Turn:
        """Mark a done reply owed again, for a new take.

        With `lengthen`, the new take continues the current one. Earlier takes stay stored,
        but the turn has no current take meanwhile.
        """
        ...

    async def give_up(self, turn_ids: Sequence[int]) -> None:
        """Mark turns no longer owed. They leave the story, or are done with their earlier take."""
        ...

    async def discard_take(self, turn_id: int, take_id: int) -> None:
        """Delete a take that is not the current one."""
        ...

    async def choose_take(self, turn_id: int, take_id: int) -> Turn:
        """Make this take of a done turn the current one."""
        ...

    async def rewrite(
        self,
        turn_id: int,
        beats: Sequence[Beat],
        text: str,
        author_id: int,
        destinations: Sequence[Destination | None] = (),
    ) -> Turn:
        """Store a take that a person wrote and make it the current one."""
        ...

    async def save_destinations(
        self, take_id: int, destinations: Sequence[Destination | None]
    ) -> None:
        """Store the destinations of a take's private beats, one entry for each beat."""
        ...

    async def mark_posts_outdated(self, turn_id: int) -> None:
        """Store that a turn's posts do not show its take, so that it is posted again."""
        ...

    async def undo(self, scene_id: int, turn_ids: Sequence[int], now: datetime) -> list[Turn]:
        """Remove these turns from the story together, so that `restore` can bring them back.

        Turns that are neither done nor being delivered are removed for good. Return the turns that
        can come back.
        """
        ...

    async def last_undone(self, scene_id: int) -> int | None:
        """Return the moment of the latest undo that was not restored.

        The moment is in microseconds since 1970.
        """
        ...

    async def restore(self, scene_id: int, moment: int) -> list[Turn]:
        """Bring back and return the turns that were undone together at that moment."""
        ...

    async def find_outdated_turns(self) -> list[Turn]:
        """Return the turns of scenes under way whose posts are out of date.

        The program stopped before it could show another take, or that a turn was undone.
        """
        ...
