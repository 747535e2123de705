"""Slots: the sequences of the KV cache and the minds whose tokens they hold.

A mind keeps its slot between replies. If another mind needs the slot, the old mind's KV cache moves
to main memory, up to a limit. It is loaded from there later, which is faster than prefilling again.
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

CANONICAL_CHUNK = 64
"""Tokens in each prefill chunk of a reproducible reply. Rounding depends on the size of a chunk, so
the KV cache of equal prompts is equal only if their chunks are."""

_MIN_SAVED_TOKENS = 64  # prefilling fewer tokens is as fast as moving their state


@dataclass(slots=True)
class Slot:
    """One sequence of the KV cache, the mind that owns it, and its tokens.

    The first `canonical` tokens were prefilled alone, in chunks of CANONICAL_CHUNK. A reproducible
    reply may reuse only those.
    """

    sequence: int
    mind: str = ""
    tokens: list[int] = field(default_factory=list)
    canonical: int = 0
    reproducible: bool = False  # whether the mind's last reply was
    reply: ReplySequence | None = None
    released_at: float = 0.0


@dataclass(frozen=True, slots=True)
class SavedState:
    """The KV cache of a mind in main memory."""

    tokens: list[int]
    canonical: int
    state: bytes


class Slots:
    """All slots, and the saved states of minds without one.

    Saved states take up to `host_memory` bytes of main memory. The oldest are dropped first.
    """

    def __init__(self, context: Context, count: int, host_memory: int) -> None:
        self._context = context
        self._slots = [Slot(number) for number in range(count)]
        self._saved: OrderedDict[str, SavedState] = OrderedDict()
        self._limit = host_memory
        self._saved_bytes = 0

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._slots)

    def __len__(self) -> int:
        return len(self._slots)

    def list_free(self) -> list[Slot]:
        """Return the slots without an active reply."""
        return [slot for slot in self._slots if not slot.reply]

    def find(self, mind: str) -> Slot | None:
        """Return the free slot that holds a mind's tokens, or None."""
        return next((slot for slot in self.list_free() if slot.mind == mind), None)

    def claim_unused(self, mind: str) -> Slot | None:
        """Give a slot that was never used to a mind without a slot, or return None.

        The slot was never released after a reply, and is therefore the first to be taken again.
        """
        slot = next((slot for slot in self.list_free() if not slot.mind), None)
        if slot and mind not in self._saved and all(other.mind != mind for other in self._slots):
            slot.mind = mind
            return slot
        return None

    def acquire(self, reply: ReplySequence) -> tuple[Slot, int]:
        """Give a free slot to a reply. Return it with the number of its tokens in the cache.

        The last token is always decoded again, since its logits are needed.
        """
        slot = self._choose(reply.mind, reply.tokens)
        if slot.mind != reply.mind:
            self._save(slot)
            slot.mind = reply.mind
            self._load(slot, reply.tokens)
        cached = min(count_common_prefix(slot.tokens, reply.tokens), len(reply.tokens) - 1)
        if reply.reproducible:
            cached = round_to_chunk(min(cached, slot.canonical))
        slot.reply, slot.reproducible = reply, reply.reproducible
        return slot, self.truncate(slot, cached)

    def truncate(self, slot: Slot, count: int) -> int:
        """Remove all but the first `count` tokens of a slot and return how many are left.

        The result is 0 if this kind of cache cannot be truncated.
        """
        if count < len(slot.tokens) and not self._context.truncate(slot.sequence, count):
            count = 0
        slot.tokens = slot.tokens[:count]
        slot.canonical = min(slot.canonical, round_to_chunk(count))
        return count

    def release(self, slot: Slot) -> None:
        """End the slot's reply. The mind keeps the slot until another mind needs it."""
        slot.reply = None
        slot.released_at = time.monotonic()

    def can_spare(self, mind: str) -> bool:
        """Return whether a slot can be given to idle work of `mind` without any cache being lost.

        That is an unused slot, or one whose cache fits into main memory beside the saved ones.
        """
        if not self.list_free():
            return False
        slot = self._choose(mind, ())
        if slot.mind in ("", mind) or len(slot.tokens) < _MIN_SAVED_TOKENS:
            return True
        return self._saved_bytes + self._context.measure_state(slot.sequence) <= self._limit

    def vacate(self, slot: Slot) -> None:
        """End the slot's reply and forget its mind, so that the slot is the first to be taken."""
        slot.reply = None
        slot.mind = ""

    def _choose(self, mind: str, prompt: Sequence[int]) -> Slot:
        """Return the mind's own slot, else an unused one, else the one released longest ago."""
        free = self.list_free()
        own = [slot for slot in free if slot.mind == mind]
        if own:
            return max(own, key=lambda slot: count_common_prefix(slot.tokens, prompt))
        return min(free, key=lambda slot: (bool(slot.mind), slot.released_at))

    def _save(self, slot: Slot) -> None:
        """Copy a slot's state to main memory if it fits and is worth it."""
        if (
            not slot.mind
            or len(slot.tokens) < _MIN_SAVED_TOKENS
            or self._context.measure_state(slot.sequence) > self._limit
        ):
            return
        self._drop(slot.mind)
        saved = SavedState(slot.tokens, slot.canonical, self._context.save_state(slot.sequence))
        self._saved[slot.mind] = saved
        self._saved_bytes += len(saved.state)
        while self._saved_bytes > self._limit:
            self._drop(next(iter(self._saved)))

    def _load(self, slot: Slot, prompt: Sequence[int]) -> None:
        """Load the saved state of the slot's mind if it has more of the prompt than the slot."""
        saved = self._saved.get(slot.mind)
        if saved is None or (
            count_common_prefix(saved.tokens, prompt) <= count_common_prefix(slot.tokens, prompt)
        ):
            return
        self._drop(slot.mind)
        self.truncate(slot, 0)
        if self._context.restore_state(slot.sequence, saved.state):
            slot.tokens, slot.canonical = saved.tokens, saved.canonical

    def _drop(self, mind: str) -> None:
        if saved := self._saved.pop(mind, None):
            self._saved_bytes -= len(saved.state)


def round_to_chunk(tokens: int) -> int:
    """Return how many of `tokens` tokens fill whole canonical chunks."""
    return tokens - tokens % CANONICAL_CHUNK


def count_common_prefix(some: Sequence[int], others: Sequence[int]) -> int:
    """Return the number of tokens that both sequences have in common at their beginning."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(some), len(others)))
