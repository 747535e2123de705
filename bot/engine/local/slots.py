"""Who sits where: sequences of the cache, the minds whose tokens they hold, and the minds that wait in main memory.

A mind keeps its seat between replies. When another one needs it, its state moves to main memory, as far as the cap
allows, and comes back instead of being read again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.engine.local.llama import Context
    from bot.engine.local.sequence import ReplySequence

_WORTH_KEEPING = 64  # tokens: fewer are read again as quickly as they are moved


@dataclass(slots=True)
class Slot:
    """One sequence of the cache, and the mind whose tokens it holds."""

    sequence: int
    mind: str = ""
    tokens: list[int] = field(default_factory=list)
    reply: ReplySequence | None = None
    left_at: float = 0.0


@dataclass(frozen=True, slots=True)
class SavedState:
    """A mind's state in main memory."""

    tokens: list[int]
    state: bytes


class Slots:
    """All seats, and the main memory behind them (`host_memory`: its cap in bytes)."""

    def __init__(self, context: Context, count: int, host_memory: int) -> None:
        self._context = context
        self._seats = [Slot(number) for number in range(count)]
        self._stored: OrderedDict[str, SavedState] = OrderedDict()
        self._cap = host_memory
        self._used = 0

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._seats)

    def __len__(self) -> int:
        return len(self._seats)

    @property
    def stored_bytes(self) -> int:
        """Bytes of main memory in use."""
        return self._used

    def free(self) -> list[Slot]:
        """The seats where no reply is under way."""
        return [seat for seat in self._seats if not seat.reply]

    def of(self, mind: str) -> Slot | None:
        """The free seat where a mind's tokens are, if any."""
        return next((seat for seat in self.free() if seat.mind == mind), None)

    def lend(self, mind: str) -> Slot | None:
        """Give a mind that has no seat one that nobody has used yet, if there is one left.

        It was never left after a reply, so it is the first to be taken when seats are short.
        """
        seat = next((seat for seat in self.free() if not seat.mind), None)
        if seat and mind not in self._stored and all(other.mind != mind for other in self._seats):
            seat.mind = mind
            return seat
        return None

    def take(self, mind: str, prompt: Sequence[int]) -> tuple[Slot, int]:
        """Give a free seat to a mind, and return it with the number of the prompt's tokens that it remembers.

        The last token never counts as remembered: its logits are needed.
        """
        seat = self._best(mind, prompt)
        if seat.mind != mind:
            self._move_out(seat)
            seat.mind, seat.tokens = mind, self._move_in(mind, seat, prompt)
        return seat, self.trim(seat, min(shared(seat.tokens, prompt), len(prompt) - 1))

    def trim(self, seat: Slot, count: int) -> int:
        """Forget all but the first `count` tokens of a seat; all of them where its kind of cache can't do that."""
        if count < len(seat.tokens) and not self._context.keep(seat.sequence, count):
            count = 0
        seat.tokens = seat.tokens[:count]
        return count

    def leave(self, seat: Slot) -> None:
        """The seat's reply has ended; its mind stays until the seat is needed."""
        seat.reply, seat.left_at = None, time.monotonic()

    def _best(self, mind: str, prompt: Sequence[int]) -> Slot:
        """The mind's own; else an unused one; else the one left longest ago."""
        free = self.free()
        own = [seat for seat in free if seat.mind == mind]
        if own:
            return max(own, key=lambda seat: shared(seat.tokens, prompt))
        return min(free, key=lambda seat: (bool(seat.mind), seat.left_at))

    def _move_out(self, seat: Slot) -> None:
        """Put a seat's state into main memory, where that is allowed and worth it."""
        if (
            not seat.mind
            or len(seat.tokens) < _WORTH_KEEPING
            or self._context.state_size(seat.sequence) > self._cap
        ):
            return
        self._forget(seat.mind)
        stored = SavedState(seat.tokens, self._context.state(seat.sequence))
        self._stored[seat.mind] = stored
        self._used += len(stored.state)
        while self._used > self._cap:
            self._forget(next(iter(self._stored)))

    def _move_in(self, mind: str, seat: Slot, prompt: Sequence[int]) -> list[int]:
        """Bring a mind's state into a seat, and return the tokens that are there now."""
        stored = self._stored.get(mind)
        if stored is None or shared(stored.tokens, prompt) <= shared(seat.tokens, prompt):
            return seat.tokens
        self._forget(mind)
        self._context.keep(seat.sequence, 0)
        return stored.tokens if self._context.restore(seat.sequence, stored.state) else []

    def _forget(self, mind: str) -> None:
        if stored := self._stored.pop(mind, None):
            self._used -= len(stored.state)


def shared(some: Sequence[int], others: Sequence[int]) -> int:
    """Number of tokens at the beginning that both have in common."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(some), len(others)))
