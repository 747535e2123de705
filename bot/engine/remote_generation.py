"""One reply from a completions server: its text so far, and what remains to be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.engine.protocol import Finish, FinishReason
from bot.engine.text_decoder import PlanningTracker, Stops

if TYPE_CHECKING:
    from bot.engine.completions_client import CompletionChunk, Usage
    from bot.engine.protocol import Request

_CHARACTERS_A_TOKEN = (
    6  # a server may send several tokens at once: then they are estimated by their length
)


def estimate(text: str) -> int:
    """Return a cautious estimate of the tokens in `text`: rather too many than too few, in any script."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


class RemoteGeneration:
    """Takes the pieces of one reply, over one request or two: the second goes on after planning was closed by force."""

    def __init__(self, request: Request) -> None:
        self.text = ""  # all of it, as the server wrote it, and the closing tag
        self.ended = False
        self._request = request
        self._reason = FinishReason.LENGTH
        self._stops = Stops(request.stop)
        self._planning = PlanningTracker(
            request.prompt.prefill, request.planning_closer, request.planning_tokens
        )
        self._tokens = 0
        self._closed = False
        self._usage: Usage | None = None

    @property
    def room(self) -> int:
        """Tokens that the reply may still have."""
        return max(1, self._request.max_tokens - self._tokens)

    @property
    def stopped(self) -> bool:
        """Whether a stop string was reached, so that nothing more is wanted."""
        return self._stops.reached

    @property
    def must_close(self) -> bool:
        """Whether planning has gone over its limit and must be closed by force."""
        return not self.ended and self._planning.tokens_too_many > 0

    def take(self, piece: CompletionChunk) -> str:
        """Take a piece and return the text that may be shown now."""
        self._usage = piece.usage or self._usage
        shown = (
            self._write(piece.text, max(1, len(piece.text) // _CHARACTERS_A_TOKEN))
            if piece.text
            else ""
        )
        if piece.finish or self._stops.reached:
            self.ended = True
            stopped = self._stops.reached or piece.finish != "length"
            self._reason = FinishReason.STOP if stopped else FinishReason.LENGTH
        return shown

    def close_planning(self) -> str:
        """Close the block and return the text that may be shown now. What follows is to be asked for anew."""
        self._closed = True
        self.ended = self._tokens >= self._request.max_tokens
        return self._write(self._request.planning_closer, 1)

    def rest(self) -> str:
        """Return what was held back in case it became a stop string."""
        return "" if self._stops.reached else self._stops.flush()

    def finish(self, prompt_tokens: int) -> Finish:
        """Return the counts: the server's where it gives any, else `prompt_tokens` and the pieces."""
        usage = None if self._closed else self._usage
        prompt = usage.prompt_tokens if usage else prompt_tokens
        details = usage.prompt_tokens_details if usage else None
        cached = (details.cached_tokens or 0) if details else 0
        tokens = usage.completion_tokens if usage else self._tokens
        return Finish(self._reason, prompt, prompt - cached, tokens, self._closed)

    def _write(self, text: str, tokens: int) -> str:
        self.text += text
        self._tokens += tokens
        self._planning.feed(text, tokens)
        return self._stops.feed(text)
