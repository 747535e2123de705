"""Continuous batching: every reply is a sequence of the cache, and one decode a step serves them all.

Prompts are read in slices between the tokens of the replies that are being written, so that those keep flowing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.engine.local.draw import Draw, GrammarError
from bot.engine.local.frames import Began, Failed, Finished, Wrote
from bot.engine.local.llama import DecodeError
from bot.engine.local.reply import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.engine.local.frames import Cancel, Event, Generate
    from bot.engine.local.llama import Context, Model

_STEP_BESIDE_OTHERS = 0.15  # seconds a step may take for reading while replies are being written
_STEP_ALONE = 0.5  # … while none is
_FIRST_SLICE = 64
_LEAST_SLICE = 16


@dataclass(slots=True)
class Seat:
    """One sequence of the cache, and the mind whose tokens it holds."""

    sequence: int
    mind: str = ""
    tokens: list[int] = field(default_factory=list)
    reply: Reply | None = None
    left_at: float = 0.0


class Batch:
    """All replies of a worker, waiting and under way. Not safe for several threads."""

    def __init__(self, model: Model, context: Context, seats: int, tell: Callable[[Event], None]) -> None:
        self._model = model
        self._context = context
        self._seats = [Seat(number) for number in range(seats)]
        self._waiting: list[Reply] = []
        self._tell = tell
        self._pace = _FIRST_SLICE / _STEP_ALONE  # prompt tokens read a second, as measured

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self._waiting and not any(seat.reply for seat in self._seats)

    def take(self, order: Generate) -> None:
        """Queue a reply, or say at once why it can't be written."""
        prompt = self._model.tokenize(order.parts)
        limit = self._context.tokens_each
        if len(prompt) >= limit:
            text = f"The prompt has {len(prompt):,} tokens, but the context holds {limit:,} with the reply."
            self._tell(Failed(id=order.id, fault="prompt", text=text))
            return
        try:
            draw = Draw(self._model, order.sampling, order.seed, order.grammar)
        except GrammarError as error:
            self._tell(Failed(id=order.id, fault="other", text=f"The reply can't be held to its form: {error}."))
            return
        self._waiting.append(Reply(order, prompt or self._model.encode("\n"), draw, self._model, limit))

    def cancel(self, order: Cancel) -> None:
        """Forget a reply; one that has ended already is no matter."""
        for reply in [reply for reply in self._waiting if reply.id == order.id]:
            self._waiting.remove(reply)
            reply.free()
        for seat in self._seats:
            if seat.reply and seat.reply.id == order.id:
                self._leave(seat)

    def step(self) -> None:
        """Seat who can be seated, and advance every seated reply by one decode."""
        self._admit()
        drawing, read = self._fill()
        began = time.monotonic()
        if not self._context.decode():
            raise DecodeError("the cache has no room, though every sequence has its own")
        if read >= _LEAST_SLICE:
            self._pace = (self._pace + read / max(1e-6, time.monotonic() - began)) / 2
        for seat, index in drawing:
            self._advance(seat, index)

    def _admit(self) -> None:
        while self._waiting and (free := [seat for seat in self._seats if not seat.reply]):
            reply = self._next_in_line()
            self._waiting.remove(reply)
            self._seat(reply, _best_seat(reply, free))

    def _next_in_line(self) -> Reply:
        """The first in line of the guild with the fewest replies under way."""
        busy = [seat.reply.guild for seat in self._seats if seat.reply]
        return min(self._waiting, key=lambda reply: busy.count(reply.guild))

    def _seat(self, reply: Reply, seat: Seat) -> None:
        # The last token is always read anew: its logits are needed.
        common = min(_common(seat.tokens, reply.prompt), len(reply.prompt) - 1)
        if not self._context.keep(seat.sequence, common):
            common = 0
        seat.tokens = reply.prompt[:common]
        seat.mind, seat.reply = reply.mind, reply
        reply.begin(common)
        self._tell(Began(id=reply.id))

    def _fill(self) -> tuple[list[tuple[Seat, int]], int]:
        """Fill the batch; return whose logits are wanted at which index, and how many prompt tokens are read."""
        self._context.clear_batch()
        writers = [seat for seat in self._seats if seat.reply and seat.reply.writing]
        drawing = [(seat, self._add(seat, len(seat.reply.todo))) for seat in writers if seat.reply]
        readers = [seat for seat in self._seats if seat.reply and not seat.reply.writing]
        slice_size = budget = min(self._slice(beside_others=bool(writers)), self._context.room)
        for position, seat in enumerate(readers):
            assert seat.reply is not None  # noqa: S101 - for the type checker
            share = min(len(seat.reply.todo), max(1, budget // (len(readers) - position)))
            budget -= share
            index = self._add(seat, share)
            if not seat.reply.todo:
                drawing.append((seat, index))
        return drawing, slice_size - budget

    def _slice(self, *, beside_others: bool) -> int:
        """How many prompt tokens to read in one step."""
        seconds = _STEP_BESIDE_OTHERS if beside_others else _STEP_ALONE
        return max(_LEAST_SLICE, len(self._seats), int(self._pace * seconds))

    def _add(self, seat: Seat, count: int) -> int:
        """Put the next `count` tokens of a seat's reply into the batch and return the last one's index."""
        assert seat.reply is not None  # noqa: S101 - for the type checker
        tokens, seat.reply.todo = seat.reply.todo[:count], seat.reply.todo[count:]
        index = self._context.add(seat.sequence, len(seat.tokens), tokens, draw=not seat.reply.todo)
        seat.tokens += tokens
        return index

    def _advance(self, seat: Seat, index: int) -> None:
        """Draw the next token of a seat's reply, and tell what came of it."""
        reply = seat.reply
        assert reply is not None  # noqa: S101 - for the type checker
        try:
            text = reply.go_on(self._context.logits(index))
        except GrammarError as error:
            self._tell(Failed(id=reply.id, fault="other", text=f"The reply can't be held to its form: {error}."))
            self._leave(seat)
            return
        if text:
            self._tell(Wrote(id=reply.id, text=text))
        if reply.finish:
            self._tell(Finished(id=reply.id, finish=reply.finish))
            self._leave(seat)

    def _leave(self, seat: Seat) -> None:
        """The seat's reply has ended; its mind stays until the seat is needed."""
        if seat.reply:
            seat.reply.free()
        seat.reply, seat.left_at = None, time.monotonic()


def _best_seat(reply: Reply, free: list[Seat]) -> Seat:
    """Where most of the prompt is remembered; else an unused seat; else the one left longest ago."""
    own = [seat for seat in free if seat.mind == reply.mind]
    if own:
        return max(own, key=lambda seat: _common(seat.tokens, reply.prompt))
    return min(free, key=lambda seat: (bool(seat.mind), seat.left_at))


def _common(some: Sequence[int], others: Sequence[int]) -> int:
    """Number of tokens at the beginning that both share."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(some), len(others)))
