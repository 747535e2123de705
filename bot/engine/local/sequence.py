"""One active reply in the worker."""

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

_GRAMMAR_TOLERANCE = 32  # tokens over the planning limit after which the grammar is dropped


class ReplySequence:
    """The tokens of a reply and the text decoded from them."""

    def __init__(
        self, command: Generate, prompt: list[int], sampler: Sampler, model: Model, context: int
    ) -> None:
        self.id = command.id
        self.mind = command.mind
        self.guild = command.guild
        self.prompt = prompt
        self.background = command.background
        self.reproducible = command.reproducible and not command.background
        self.tokens = list(prompt)  # the prompt and the reply so far
        self.pending: list[int] = prompt  # tokens that are not decoded yet
        self.generating = False  # False during prefill
        self.finish: Finish | None = None
        self._command = command
        self._model = model
        self._sampler = sampler
        self._max_tokens = min(command.max_tokens, context - len(prompt))
        self._generated = 0
        self._prefilled = 0
        self._force_closed = False
        self._decoder = Utf8Decoder()
        self._stops = StopStringFilter(command.stop)
        self._planning = PlanningTracker(
            command.prefill, command.planning_closer, command.planning_tokens
        )
        self._closer = model.encode(command.planning_closer)

    def start(self, cached: int) -> None:
        """Start prefill after the first `cached` tokens, which are in the KV cache.

        A reply that lost its slot starts again this way. It keeps the tokens that it has.
        """
        self.pending = self.tokens[cached:]
        self.generating = False
        self._prefilled += len(self.pending)

    def advance(self, logits: npt.NDArray[np.float32]) -> str:
        """Sample the next token. Return the text that can be shown now. Raises GrammarError."""
        self.generating = True
        token = self._sampler.sample(logits)
        if self._model.ends_reply(token):
            return self._end(FinishReason.STOP)
        self._generated += 1
        self.pending = [token]
        self.tokens.append(token)
        text = self._write(self._decoder.feed(self._model.piece(token)))
        if self._stops.reached:
            return text + self._end(FinishReason.STOP)
        if self._must_close_planning():
            text += self._close_planning()
        if self._generated >= self._max_tokens:
            return text + self._end(FinishReason.LENGTH)
        return text

    def free(self) -> None:
        """Release the memory of the samplers."""
        self._sampler.free()

    def _write(self, text: str) -> str:
        self._planning.feed(text)
        return self._stops.feed(text)

    def _must_close_planning(self) -> bool:
        excess = self._planning.excess_tokens
        if not excess or self._generated + len(self._closer) >= self._max_tokens:
            return False
        if excess > _GRAMMAR_TOLERANCE:
            self._sampler.drop_grammar()
        return self._sampler.allows(self._closer)

    def _close_planning(self) -> str:
        for token in self._closer:
            self._sampler.accept(token)
        self.pending += self._closer
        self.tokens += self._closer
        self._generated += len(self._closer)
        self._force_closed = True
        self._decoder.discard_partial()
        return self._write(self._command.planning_closer)

    def _end(self, reason: FinishReason) -> str:
        self.finish = Finish(
            reason, len(self.prompt), self._prefilled, self._generated, self._force_closed
        )
        return "" if self._stops.reached else self._stops.flush()
