"""The queue of replies that wait for a slot, fair between guilds.

The next reply belongs to the guild with the fewest active replies. Ties go to the guild that was
served longest ago. Within a guild, replies are served in order. A guild with many requests
therefore cannot delay a guild with few.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bot.engine.local.sequence import ReplySequence


class FairQueue:
    """Replies in the order of arrival, popped in the fair order."""

    def __init__(self) -> None:
        self._waiting: list[ReplySequence] = []
        self._positions: dict[int, int] = {}  # by reply, as last reported
        self._served: dict[str, int] = {}  # tick at which each waiting guild was last served
        self._tick = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __iter__(self) -> Iterator[ReplySequence]:
        return iter(self._waiting)

    def add(self, reply: ReplySequence) -> None:
        """Add a reply at the end."""
        self._waiting.append(reply)

    def remove(self, reply: ReplySequence) -> None:
        """Remove a reply."""
        self._waiting.remove(reply)
        self._positions.pop(reply.id, None)

    def pop_next(self, active_guilds: Iterable[str]) -> ReplySequence:
        """Remove and return the next reply. `active_guilds` has the guild of each active reply."""
        reply = _choose_next(self._waiting, Counter(active_guilds), self._served)
        self.remove(reply)
        self._tick += 1
        self._served[reply.guild] = self._tick
        waiting = {other.guild for other in self._waiting}
        self._served = {guild: tick for guild, tick in self._served.items() if guild in waiting}
        return reply

    def pop_changed_positions(
        self, active_guilds: Iterable[str]
    ) -> Iterator[tuple[ReplySequence, int]]:
        """Yield each reply whose position has changed since the last call, with the position.

        The position is the number of replies ahead.
        """
        counts = Counter(active_guilds)
        served = dict(self._served)
        waiting = list(self._waiting)
        for position in range(len(waiting)):
            reply = _choose_next(waiting, counts, served)
            waiting.remove(reply)
            served[reply.guild] = self._tick + position + 1
            if self._positions.get(reply.id) != position:
                self._positions[reply.id] = position
                yield reply, position


def _choose_next(
    waiting: list[ReplySequence], active: Counter[str], served: dict[str, int]
) -> ReplySequence:
    return min(waiting, key=lambda reply: (active[reply.guild], served.get(reply.guild, 0)))
