"""One reply that the worker is writing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.engine.protocol import Finish, FinishReason
from bot.engine.text_decoder import PlanningTracker, StopStringFilter, Utf8Decoder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from bot.engine.local.llama import Model
    from bot.engine.local.sampler import Sampler
    from bot.engine.local.worker_messages import Generate

_GRAMMAR_PATIENCE = (
    32  # tokens that planning may go on over its limit until the grammar lets it be closed
)


class ReplySequence:
    """Its tokens, read and to be read, and the text that has come out of it."""

    def __init__(
        self, order: Generate, prompt: list[int], draw: Sampler, model: Model, context: int
    ) -> None:
        self.id = order.id
        self.mind = order.mind
        self.guild = order.guild
        self.prompt = prompt
        self.todo: list[int] = prompt  # tokens that the model hasn't read yet
        self.writing = False  # False while the prompt is being read
        self.finish: Finish | None = None
        self._order = order
        self._model = model
        self._draw = draw
        self._room = min(order.max_tokens, context - len(prompt))
        self._drawn = 0
        self._read = 0
        self._forced = False
        self._decoder = Utf8Decoder()
        self._stops = StopStringFilter(order.stop)
        self._planning = PlanningTracker(
            order.prefill, order.planning_closer, order.planning_tokens
        )
        self._closer = model.encode(order.planning_closer)

    def begin(self, remembered: int) -> None:
        """Start with the first `remembered` tokens of the prompt in the cache already."""
        self.todo = self.prompt[remembered:]
        self._read = len(self.todo)

    def go_on(self, logits: npt.NDArray[np.float32]) -> str:
        """Draw the next token and return the text that may be shown now. Raises GrammarError."""
        self.writing = True
        token = self._draw.next(logits)
        if self._model.ends(token):
            return self._end(FinishReason.STOP)
        self._drawn += 1
        self.todo = [token]
        text = self._write(self._decoder.feed(self._model.piece(token)))
        if self._stops.reached:
            return text + self._end(FinishReason.STOP)
        if self._must_close():
            text += self._close_planning()
        if self._drawn >= self._room:
            return text + self._end(FinishReason.LENGTH)
        return text

    def free(self) -> None:
        """Give the memory of the samplers back."""
        self._draw.free()

    def _write(self, text: str) -> str:
        self._planning.feed(text)
        return self._stops.feed(text)

    def _must_close(self) -> bool:
        over = self._planning.excess_tokens
        if not over or self._drawn + len(self._closer) >= self._room:
            return False
        if over > _GRAMMAR_PATIENCE:
            self._draw.drop_grammar()
        return self._draw.may_write(self._closer)

    def _close_planning(self) -> str:
        for token in self._closer:
            self._draw.accept(token)
        self.todo += self._closer
        self._drawn += len(self._closer)
        self._forced = True
        self._decoder.discard_partial()
        return self._write(self._order.planning_closer)

    def _end(self, reason: FinishReason) -> str:
        self.finish = Finish(reason, len(self.prompt), self._read, self._drawn, self._forced)
        return "" if self._stops.reached else self._stops.flush()
