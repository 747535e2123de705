"""Continuous batching: each reply is a sequence in the KV cache, and one decode serves them all.

Prompts are prefilled in chunks between the tokens of the replies that are being generated, so that
those keep streaming. If no reply is active, requested prefetches run, and after them one reply in
the background. Its steps are short, and it gives its slot to a reply that needs it.

A reproducible reply gets decodes of its own, with chunks of a fixed size. Otherwise the rounding of
its numbers would depend on the other replies and on the measured speed.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Protocol

from bot.engine.local.fair_queue import FairQueue
from bot.engine.local.grammar_state import GrammarError
from bot.engine.local.llama import DecodeError
from bot.engine.local.sampler import Sampler
from bot.engine.local.sequence import ReplySequence
from bot.engine.local.slots import (
    CANONICAL_CHUNK,
    Slots,
    count_common_prefix,
    round_to_chunk,
)
from bot.engine.local.worker_messages import Failed, Finished, Generated, QueuePosition, Started

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.engine.local.llama import Context, Model
    from bot.engine.local.slots import Slot
    from bot.engine.local.worker_messages import Cancel, Event, Generate, Prefetch

_SHARED_STEP_SECONDS = 0.15  # time for prefill in one step while other replies are generated
_EXCLUSIVE_STEP_SECONDS = 1.0  # … at other times: larger chunks are faster but delay new requests
_INITIAL_CHUNK = 64
_MIN_CHUNK = 16
_CHUNK_TILE = 64  # larger chunks are a multiple of it, since matrices are multiplied in tiles
_EMIT_SECONDS = 0.1  # between text events: each one costs the bot time on the same cores


class EventSink(Protocol):
    """Receives the events of one step together."""

    def __call__(self, *events: Event) -> None:
        """Send the events to the bot."""


class Batch:
    """All queued and active replies of a worker. Not thread-safe."""

    def __init__(self, model: Model, context: Context, slots: Slots, emit: EventSink) -> None:
        self._model = model
        self._context = context
        self._slots = slots
        self._queue = FairQueue()
        self._background: deque[ReplySequence] = deque()
        self._prefetches: dict[str, list[int]] = {}
        self._emit = emit
        # Prefilled tokens per second, a moving average of measurements.
        self._prefill_speed = _INITIAL_CHUNK / _EXCLUSIVE_STEP_SECONDS
        self._pending_text: dict[int, str] = {}  # by reply, since the last text events
        self._emitted_at = 0.0

    @property
    def idle(self) -> bool:
        """Whether there is neither a reply nor a prefetch to work on."""
        waiting = self._queue or self._background or self._prefetches
        return not waiting and not any(slot.reply for slot in self._slots)

    def submit(self, command: Generate) -> None:
        """Add a reply to the queue, or emit Failed if its prompt or grammar cannot be used."""
        prompt = self._model.tokenize(command.parts)
        limit = self._context.tokens_each
        if len(prompt) >= limit:
            text = (
                f"The prompt has {len(prompt):,} tokens, but prompt and reply together may have "
                f"{limit:,}."
            )
            self._emit(Failed(id=command.id, fault="prompt", text=text))
            return
        try:
            sampler = Sampler(
                self._model, command.sampling, command.seed, command.grammar, command.speaker
            )
        except GrammarError as error:
            self._emit(_grammar_failure(command.id, error))
            return
        sampler.prime(prompt)
        self._prefetches.pop(command.mind, None)
        reply = ReplySequence(
            command, prompt or self._model.encode("\n"), sampler, self._model, limit
        )
        if command.background:
            self._background.append(reply)
        else:
            self._queue.add(reply)

    def cancel(self, command: Cancel) -> None:
        """Drop a reply, unless it has ended."""
        for reply in [reply for reply in self._queue if reply.id == command.id]:
            self._queue.remove(reply)
            reply.free()
        for reply in [reply for reply in self._background if reply.id == command.id]:
            self._background.remove(reply)
            reply.free()
        for slot in self._slots:
            if slot.reply and slot.reply.id == command.id:
                self._release(slot)
        self._pending_text.pop(command.id, None)

    def prefetch(self, command: Prefetch) -> None:
        """Remember the beginning of a mind's next prompt, to prefill it when there is time."""
        tokens = self._model.tokenize(command.parts)
        self._prefetches[command.mind] = tokens[: self._context.tokens_each - 1]

    def step(self) -> None:
        """Assign free slots to queued replies and advance all active replies by one decode."""
        self._assign_slots()
        if self._list_active():
            self._emit_text(self._step_replies())
            return
        self._context.clear_batch()
        if prefilled := self._fill_with_prefetch():
            self._decode(prefilled)
        elif slot := self._assign_background():
            self._emit_text(self._step_background(slot))

    def _step_replies(self) -> list[Event]:
        """Advance all active replies by one decode. Return the events of those that have ended."""
        own = [(slot, reply) for slot, reply in self._list_active() if reply.reproducible]
        self._context.clear_batch()
        sampling, prefilled = self._fill_batch()
        self._decode(prefilled)
        ended = [event for slot, index in sampling for event in self._sample(slot, index)]
        for slot, _ in own:
            ended += self._step_alone(slot)
        return ended

    def _step_background(self, slot: Slot) -> list[Event]:
        """Advance a background reply by one short decode. Return its event if it has ended."""
        reply = slot.reply
        assert reply is not None  # noqa: S101 - for the type checker
        prefill = 0 if reply.generating else self._choose_chunk(shared=True)
        count = min(len(reply.pending), prefill or len(reply.pending), self._context.room)
        index = self._append_pending(slot, reply, count)
        self._decode(count if prefill else 0)
        return [] if reply.pending else list(self._sample(slot, index))

    def _emit_text(self, ended: list[Event]) -> None:
        """Emit the text so far, if it is time for it or a reply has ended, and then `ended`."""
        if ended or time.monotonic() - self._emitted_at >= _EMIT_SECONDS:
            self._emit(
                *(Generated(id=id_, text=text) for id_, text in self._pending_text.items()), *ended
            )
            self._pending_text.clear()
            self._emitted_at = time.monotonic()

    def _decode(self, prefilled: int) -> None:
        """Decode the batch, if it has any tokens, and measure the speed of prefill."""
        if self._context.is_batch_empty:
            return
        started = time.monotonic()
        if not self._context.decode():
            raise DecodeError("the KV cache is full although each sequence has its own part")
        if prefilled >= _MIN_CHUNK:
            speed = prefilled / max(1e-6, time.monotonic() - started)
            self._prefill_speed = (self._prefill_speed + speed) / 2

    def _step_alone(self, slot: Slot) -> list[Event]:
        """Advance a reproducible reply by one decode of its own."""
        reply = slot.reply
        assert reply is not None  # noqa: S101 - for the type checker
        self._context.clear_batch()
        count = len(reply.pending)
        if not reply.generating:
            count = min(count, self._count_to_chunk_end(slot))
        index = self._append_pending(slot, reply, min(count, self._context.room))
        self._decode(0)
        if not reply.generating:
            self._mark_canonical(slot, index + 1)
        return [] if reply.pending else list(self._sample(slot, index))

    def _count_to_chunk_end(self, slot: Slot) -> int:
        size = min(CANONICAL_CHUNK, self._context.capacity)
        return size - len(slot.tokens) % size

    def _mark_canonical(self, slot: Slot, added: int) -> None:
        """Count the last `added` tokens of a slot as canonical if they fill a chunk."""
        if added == CANONICAL_CHUNK and slot.canonical == len(slot.tokens) - added:
            slot.canonical = len(slot.tokens)

    def _assign_slots(self) -> None:
        if not self._queue:
            return
        if any(self._slots.find(reply.mind) is None for reply in self._queue):
            self._suspend_background()
        while self._queue and self._slots.list_free():
            reply = self._queue.pop_next(self._list_active_guilds())
            _, cached = self._slots.acquire(reply)
            reply.start(cached)
            self._emit(Started(id=reply.id))
        for reply, position in self._queue.pop_changed_positions(self._list_active_guilds()):
            self._emit(QueuePosition(id=reply.id, position=position))

    def _assign_background(self) -> Slot | None:
        """Return the slot of the background reply, or give one to the next, if there is any."""
        for slot in self._slots:
            if slot.reply:
                return slot
        if not self._background:
            return None
        reply = self._background.popleft()
        if not self._slots.can_spare(reply.mind):
            reply.free()
            text = "Idle work would delay the next replies, so it is not done."
            self._emit(Failed(id=reply.id, fault="busy", text=text))
            return None
        slot, cached = self._slots.acquire(reply)
        reply.start(cached)
        self._emit(Started(id=reply.id))
        return slot

    def _suspend_background(self) -> None:
        """Free the slot of a background reply. The reply continues later from its text so far."""
        for slot in self._slots:
            if slot.reply and slot.reply.background:
                self._background.appendleft(slot.reply)
                self._slots.vacate(slot)

    def _list_active(self) -> list[tuple[Slot, ReplySequence]]:
        """Return the replies with a slot, except one in the background."""
        return [
            (slot, slot.reply) for slot in self._slots if slot.reply and not slot.reply.background
        ]

    def _list_active_guilds(self) -> list[str]:
        return [reply.guild for _, reply in self._list_active()]

    def _fill_batch(self) -> tuple[list[tuple[Slot, int]], int]:
        """Fill the batch with the next tokens of all active replies that are not reproducible.

        Return the slots to sample with the index of their logits, and the number of prompt tokens
        in the batch.
        """
        active = [one for one in self._list_active() if not one[1].reproducible]
        generating = [(slot, reply) for slot, reply in active if reply.generating]
        prefilling = [(slot, reply) for slot, reply in active if not reply.generating]
        sampling = []
        waiting = len(active)
        for slot, reply in generating:
            # If many planning blocks are force-closed at once, their closing tags may not all fit.
            # One token is reserved for each of the other replies.
            waiting -= 1
            index = self._append_pending(
                slot, reply, min(len(reply.pending), self._context.room - waiting)
            )
            if not reply.pending:
                sampling.append((slot, index))
        if not prefilling:
            return sampling, 0
        total = min(self._choose_chunk(shared=bool(generating)), self._context.room)
        budget = total
        for position, (slot, reply) in enumerate(prefilling):
            share = min(len(reply.pending), max(1, budget // (len(prefilling) - position)))
            budget -= share
            index = self._append_pending(slot, reply, share)
            if not reply.pending:
                sampling.append((slot, index))
        return sampling, total - budget

    def _choose_chunk(self, *, shared: bool) -> int:
        """Return how many prompt tokens to prefill in one step."""
        seconds = _SHARED_STEP_SECONDS if shared else _EXCLUSIVE_STEP_SECONDS
        size = max(_MIN_CHUNK, len(self._slots), int(self._prefill_speed * seconds))
        return size if size < _CHUNK_TILE else size - size % _CHUNK_TILE

    def _append_pending(self, slot: Slot, reply: ReplySequence, count: int) -> int:
        """Add the next `count` tokens of a reply to the batch and return the last one's index."""
        tokens, reply.pending = reply.pending[:count], reply.pending[count:]
        return self._append(slot, tokens, want_logits=not reply.pending)

    def _append(self, slot: Slot, tokens: Sequence[int], *, want_logits: bool) -> int:
        index = self._context.add(slot.sequence, len(slot.tokens), tokens, want_logits=want_logits)
        slot.tokens += tokens
        return index

    def _sample(self, slot: Slot, index: int) -> Iterator[Event]:
        """Sample the next token of a slot's reply. Yield an event if the reply ends."""
        reply = slot.reply
        assert reply is not None  # noqa: S101 - for the type checker
        try:
            text = reply.advance(self._context.logits(index))
        except GrammarError as error:
            yield _grammar_failure(reply.id, error)
            self._release(slot)
            return
        if text:
            self._pending_text[reply.id] = self._pending_text.get(reply.id, "") + text
        if reply.finish:
            yield Finished(id=reply.id, finish=reply.finish)
            self._release(slot)

    def _release(self, slot: Slot) -> None:
        reply = slot.reply
        if reply:
            reply.free()
        if reply and reply.background:  # nobody will ask for its cache
            self._slots.vacate(slot)
        else:
            self._slots.release(slot)

    def _fill_with_prefetch(self) -> int:
        """Add a chunk of the next prefetch to the batch and return its size in tokens.

        A mind without a slot gets an unused one, but never that of another mind, whose cached
        prompt is worth more than a guess.
        """
        while self._prefetches:
            mind, tokens = next(iter(self._prefetches.items()))
            slot = self._slots.find(mind) or self._slots.claim_unused(mind)
            common = count_common_prefix(slot.tokens, tokens) if slot else len(tokens)
            if slot and slot.reproducible:
                common = min(common, slot.canonical)
                tokens = tokens[: round_to_chunk(len(tokens))]  # the rest would not be reused
            if slot and common < len(tokens):
                common = self._slots.truncate(slot, common)
                size = self._choose_chunk(shared=True)
                if slot.reproducible:
                    size = self._count_to_chunk_end(slot)
                chunk = tokens[common : common + min(size, self._context.room)]
                self._append(slot, chunk, want_logits=False)
                if slot.reproducible:
                    self._mark_canonical(slot, len(chunk))
                return len(chunk)
            del self._prefetches[mind]
        return 0


def _grammar_failure(reply_id: int, error: GrammarError) -> Failed:
    return Failed(id=reply_id, fault="other", text=f"The grammar cannot be used: {error}.")
