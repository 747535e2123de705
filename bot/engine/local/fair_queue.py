"""The replies that wait, and whose turn is next.

It is the guild's with the fewest replies under way; among those, the one's that was served longest ago; within a guild,
the reply's that came first. So a guild that asks for much waits behind one that asks for little, and not the other way.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bot.engine.local.sequence import ReplySequence


class FairQueue:
    """A fair queue."""

    def __init__(self) -> None:
        self._waiting: list[ReplySequence] = []
        self._told: dict[int, int] = {}
        self._served: dict[str, int] = {}  # when each guild that waits was served last, in replies
        self._clock = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __iter__(self) -> Iterator[ReplySequence]:
        return iter(self._waiting)

    def join(self, reply: ReplySequence) -> None:
        """Put a reply at the end."""
        self._waiting.append(reply)

    def leave(self, reply: ReplySequence) -> None:
        """Take a reply out."""
        self._waiting.remove(reply)
        self._told.pop(reply.id, None)

    def next(self, busy: Iterable[str]) -> ReplySequence:
        """Take out whose turn it is. `busy`: the guild of each reply that is under way."""
        reply = _first(self._waiting, Counter(busy), self._served)
        self.leave(reply)
        self._clock += 1
        self._served[reply.guild] = self._clock
        waiting = {other.guild for other in self._waiting}
        self._served = {guild: when for guild, when in self._served.items() if guild in waiting}
        return reply

    def moved(self, busy: Iterable[str]) -> Iterator[tuple[ReplySequence, int]]:
        """Yield those whose place has changed since the last call, with it: how many come before."""
        counts, served, waiting = Counter(busy), dict(self._served), list(self._waiting)
        for place in range(len(waiting)):
            reply = _first(waiting, counts, served)
            waiting.remove(reply)
            served[reply.guild] = self._clock + place + 1
            if self._told.get(reply.id) != place:
                self._told[reply.id] = place
                yield reply, place


def _first(
    waiting: list[ReplySequence], busy: Counter[str], served: dict[str, int]
) -> ReplySequence:
    return min(waiting, key=lambda reply: (busy[reply.guild], served.get(reply.guild, 0)))
