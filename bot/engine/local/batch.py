"""Continuous batching: every reply is a sequence of the cache, and one decode a step serves them all.

Prompts are read in slices between the tokens of the replies that are being written, so that those keep flowing. When
nobody waits, minds are brought to what their next prompt will begin with.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from bot.engine.local.fair_queue import FairQueue
from bot.engine.local.llama import DecodeError
from bot.engine.local.sampler import GrammarError, Sampler
from bot.engine.local.sequence import ReplySequence
from bot.engine.local.slots import Slots, shared
from bot.engine.local.worker_messages import Failed, Finished, Generated, QueuePosition, Started

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.engine.local.llama import Context, Model
    from bot.engine.local.slots import Slot
    from bot.engine.local.worker_messages import Cancel, Event, Generate, Prefetch

_STEP_BESIDE_OTHERS = 0.15  # seconds a step may take for reading while replies are being written
_STEP_ALONE = 1.0  # … while none is: larger slices are read faster, but who comes meanwhile waits for their end
_FIRST_SLICE = 64
_LEAST_SLICE = 16
_TELL_EVERY = (
    0.1  # seconds between pieces of a reply: each costs the bot, on the cores that also compute
)
_EVEN_SLICE = 64  # larger slices are multiples of it: matrices are multiplied in tiles


class Tell(Protocol):
    """What takes the events, those of one step together."""

    def __call__(self, *events: Event) -> None:
        """Pass them on to the bot."""


class Batch:
    """All replies of a worker, waiting and under way. Not safe for several threads."""

    def __init__(self, model: Model, context: Context, seats: Slots, tell: Tell) -> None:
        self._model = model
        self._context = context
        self._seats = seats
        self._line = FairQueue()
        self._expected: dict[str, list[int]] = {}
        self._tell = tell
        self._pace = _FIRST_SLICE / _STEP_ALONE  # prompt tokens read a second, as measured
        self._untold: dict[int, str] = {}  # what replies wrote since the last pieces were told
        self._told_at = 0.0

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self._line and not self._expected and not any(seat.reply for seat in self._seats)

    def take(self, order: Generate) -> None:
        """Queue a reply, or say at once why it can't be written."""
        prompt = self._model.tokenize(order.parts)
        limit = self._context.tokens_each
        if len(prompt) >= limit:
            text = f"The prompt has {len(prompt):,} tokens, but the context holds {limit:,} with the reply."
            self._tell(Failed(id=order.id, fault="prompt", text=text))
            return
        try:
            draw = Sampler(self._model, order.sampling, order.seed, order.grammar)
        except GrammarError as error:
            self._tell(
                Failed(
                    id=order.id,
                    fault="other",
                    text=f"The reply can't be held to its form: {error}.",
                )
            )
            return
        draw.heard(prompt)
        self._expected.pop(order.mind, None)
        self._line.join(
            ReplySequence(order, prompt or self._model.encode("\n"), draw, self._model, limit)
        )

    def cancel(self, order: Cancel) -> None:
        """Forget a reply; one that has ended already is no matter."""
        for reply in [reply for reply in self._line if reply.id == order.id]:
            self._line.leave(reply)
            reply.free()
        for seat in self._seats:
            if seat.reply and seat.reply.id == order.id:
                self._leave(seat)
        self._untold.pop(order.id, None)

    def prefetch(self, order: Prefetch) -> None:
        """Remember what a mind's next prompt will begin with, for when there is time."""
        self._expected[order.mind] = self._model.tokenize(order.parts)[
            : self._context.tokens_each - 1
        ]

    def step(self) -> None:
        """Seat who can be seated, and advance every seated reply by one decode."""
        self._admit()
        self._context.clear_batch()
        drawing, read = self._fill()
        if not any(seat.reply for seat in self._seats):
            read = self._anticipate()
            if not read:
                return
        began = time.monotonic()
        if not self._context.decode():
            raise DecodeError("the cache has no room, though every sequence has its own")
        if read >= _LEAST_SLICE:
            self._pace = (self._pace + read / max(1e-6, time.monotonic() - began)) / 2
        ended = [event for seat, index in drawing for event in self._advance(seat, index)]
        if ended or time.monotonic() - self._told_at >= _TELL_EVERY:
            self._tell(
                *(Generated(id=one, text=text) for one, text in self._untold.items()), *ended
            )
            self._untold.clear()
            self._told_at = time.monotonic()

    def _admit(self) -> None:
        if not self._line:
            return
        while self._line and self._seats.free():
            reply = self._line.next(self._busy())
            seat, remembered = self._seats.take(reply.mind, reply.prompt)
            seat.reply = reply
            reply.begin(remembered)
            self._tell(Started(id=reply.id))
        for reply, place in self._line.moved(self._busy()):
            self._tell(QueuePosition(id=reply.id, place=place))

    def _busy(self) -> list[str]:
        return [seat.reply.guild for seat in self._seats if seat.reply]

    def _fill(self) -> tuple[list[tuple[Slot, int]], int]:
        """Fill the batch; return whose logits are wanted at which index, and how many prompt tokens are read."""
        writers = [(seat, seat.reply) for seat in self._seats if seat.reply and seat.reply.writing]
        readers = [
            (seat, seat.reply) for seat in self._seats if seat.reply and not seat.reply.writing
        ]
        drawing, others = [], len(writers) + len(readers)
        for seat, reply in writers:
            others -= 1  # where many close their planning at once, not all of it fits: each of them is left one token
            index = self._add(seat, reply, min(len(reply.todo), self._context.room - others))
            if not reply.todo:
                drawing.append((seat, index))
        if not readers:
            return drawing, 0
        slice_size = budget = min(self._slice(beside_others=bool(writers)), self._context.room)
        for position, (seat, reply) in enumerate(readers):
            share = min(len(reply.todo), max(1, budget // (len(readers) - position)))
            budget -= share
            index = self._add(seat, reply, share)
            if not reply.todo:
                drawing.append((seat, index))
        return drawing, slice_size - budget

    def _slice(self, *, beside_others: bool) -> int:
        """How many prompt tokens to read in one step."""
        seconds = _STEP_BESIDE_OTHERS if beside_others else _STEP_ALONE
        size = max(_LEAST_SLICE, len(self._seats), int(self._pace * seconds))
        return size if size < _EVEN_SLICE else size - size % _EVEN_SLICE

    def _add(self, seat: Slot, reply: ReplySequence, count: int) -> int:
        """Put the next `count` tokens of a reply into the batch and return the last one's index."""
        tokens, reply.todo = reply.todo[:count], reply.todo[count:]
        return self._append(seat, tokens, draw=not reply.todo)

    def _append(self, seat: Slot, tokens: Sequence[int], *, draw: bool) -> int:
        index = self._context.add(seat.sequence, len(seat.tokens), tokens, draw=draw)
        seat.tokens += tokens
        return index

    def _advance(self, seat: Slot, index: int) -> Iterator[Event]:
        """Draw the next token of a seat's reply, and yield its end."""
        reply = seat.reply
        assert reply is not None  # noqa: S101 - for the type checker
        try:
            text = reply.go_on(self._context.logits(index))
        except GrammarError as error:
            yield Failed(
                id=reply.id, fault="other", text=f"The reply can't be held to its form: {error}."
            )
            self._leave(seat)
            return
        if text:
            self._untold[reply.id] = self._untold.get(reply.id, "") + text
        if reply.finish:
            yield Finished(id=reply.id, finish=reply.finish)
            self._leave(seat)

    def _leave(self, seat: Slot) -> None:
        if seat.reply:
            seat.reply.free()
        self._seats.leave(seat)

    def _anticipate(self) -> int:
        """Put a slice of what the next mind expects into the batch; return how many tokens that is.

        A mind without a seat gets one that was never used, but no other: what another mind remembers is worth more
        than a guess.
        """
        while self._expected:
            mind, tokens = next(iter(self._expected.items()))
            seat = self._seats.of(mind) or self._seats.lend(mind)
            common = shared(seat.tokens, tokens) if seat else len(tokens)
            if seat and common < len(tokens):
                common = self._seats.trim(seat, common)
                ahead = tokens[
                    common : common + min(self._slice(beside_others=True), self._context.room)
                ]
                self._append(seat, ahead, draw=False)
                return len(ahead)
            del self._expected[mind]
        return 0
