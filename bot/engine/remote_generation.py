"""One reply from a completions server: its text so far and its remaining tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.engine.protocol import Finish, FinishReason
from bot.engine.text_decoder import PlanningTracker, StopStringFilter

if TYPE_CHECKING:
    from bot.engine.completions_client import CompletionChunk, Usage
    from bot.engine.protocol import Request

_CHARACTERS_PER_TOKEN = 6  # to estimate the tokens of a chunk, since some servers send several


def estimate_tokens(text: str) -> int:
    """Return an estimate of the tokens in `text` that is rather too high, in any script."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


class RemoteGeneration:
    """Collects the chunks of one reply, over one or two requests.

    The second request continues the reply after its planning block was force-closed.
    """

    def __init__(self, request: Request) -> None:
        self.text = ""  # everything the server wrote, and the closing tag
        self.ended = False
        self._request = request
        self._reason = FinishReason.LENGTH
        self._stops = StopStringFilter(request.stop)
        self._planning = PlanningTracker(
            request.prompt.prefill, request.planning_closer, request.planning_tokens
        )
        self._tokens = 0
        self._tokens_before = 0  # of those, the tokens before the second request
        self._force_closed = False
        self._usage: Usage | None = None

    @property
    def tokens_left(self) -> int:
        """Number of tokens that the reply may still have."""
        return max(1, self._request.max_tokens - self._tokens)

    @property
    def stopped(self) -> bool:
        """Whether a stop string was reached."""
        return self._stops.reached

    @property
    def must_close_planning(self) -> bool:
        """Whether the planning block is over its limit."""
        return not self.ended and self._planning.excess_tokens > 0

    def receive(self, chunk: CompletionChunk) -> str:
        """Add a chunk and return the text that can be shown now."""
        self._usage = chunk.usage or self._usage
        visible = ""
        if chunk.text:
            visible = self._write(chunk.text, max(1, len(chunk.text) // _CHARACTERS_PER_TOKEN))
        if chunk.finish or self._stops.reached:
            self.ended = True
            stopped = self._stops.reached or chunk.finish != "length"
            self._reason = FinishReason.STOP if stopped else FinishReason.LENGTH
        return visible

    def close_planning(self) -> str:
        """Close the planning block and return the text that can be shown now.

        The rest of the reply needs another request.
        """
        self._force_closed = True
        self._usage = None
        self.ended = self._tokens >= self._request.max_tokens
        visible = self._write(self._request.planning_closer, 1)
        self._tokens_before = self._tokens
        return visible

    def flush(self) -> str:
        """Return the text that was held back because it could have become a stop string."""
        return "" if self._stops.reached else self._stops.flush()

    def finish(self, prompt_tokens: int) -> Finish:
        """Return the token counts: the server's, or `prompt_tokens` and the counted chunks."""
        usage = self._usage
        if usage is None:
            return Finish(
                self._reason, prompt_tokens, prompt_tokens, self._tokens, self._force_closed
            )
        # The second request's prompt contains the planning, which the first one wrote. It says
        # nothing about the tokens that the first one read.
        prompt = max(0, usage.prompt_tokens - self._tokens_before)
        details = None if self._force_closed else usage.prompt_tokens_details
        cached = (details.cached_tokens or 0) if details else 0
        tokens = self._tokens_before + usage.completion_tokens
        return Finish(self._reason, prompt, prompt - cached, tokens, self._force_closed)

    def _write(self, text: str, tokens: int) -> str:
        self.text += text
        self._tokens += tokens
        self._planning.feed(text, tokens)
        return self._stops.feed(text)
