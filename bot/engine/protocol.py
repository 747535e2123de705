"""The interface of an engine. Code that generates text depends on this and on no implementation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from bot.her.layout import Message
    from bot.her.prompt import Prompt


class Dialect(StrEnum):
    """The prompt layout that a model understands.

    HER is the layout of HER's training data. PLAIN describes HER's structure in plain words, for
    models that were not trained on it. STAND_IN is a short prompt with a tight grammar, for very
    small models.
    """

    HER = "her"
    PLAIN = "plain"
    STAND_IN = "stand-in"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampler settings. The defaults are those of HER's evaluation.

    `top_p` and `repeat_penalty` are off at 1.0, the others at 0.
    """

    temperature: float = 0.7
    top_p: float = 0.9
    top_k: int = 0
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    dry: float = 0.0  # strength of DRY, which penalises repeated phrases; 0.8 is usual


class PromptFormat(Protocol):
    """Turns messages into a prompt, with the control tokens of the model."""

    def render(self, messages: Sequence[Message], *, prefill: str) -> Prompt:
        """Return the prompt for the assistant's next message, which begins with `prefill`."""
        ...


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """The model and where it runs. Shown at the start and by `aside doctor`."""

    kind: str  # "local" or "remote"; tests use other words
    model: str  # the model's name, for people
    dialect: Dialect
    context: int  # tokens for one mind, prompt and reply together
    device: str  # "CPU", "CUDA0 (NVIDIA RTX 4090)" or a server's address
    layers_offloaded: int = 0
    layers: int = 0
    warning: str | None = None  # a sentence for the operator, for example about an unused GPU
    stand_in: bool = False  # True for the demo model, which is not a HER model
    sampling: Sampling = Sampling()  # recommended by the model's authors
    requirements: str = ""  # the Requirements section of the prompt, if the model has its own
    supports_grammar: bool = False  # whether a grammar can constrain the replies
    minds: int = 1  # replies generated at once; further ones wait in the queue
    memory: str = ""  # how the model is placed in memory, if the engine chose that
    prompt_format: PromptFormat | None = None  # None: ChatML


@dataclass(frozen=True, slots=True)
class Request:
    """One reply to generate."""

    prompt: Prompt
    mind: str  # stable key of the mind; the engine may reuse the KV cache of its last prompt
    guild: str = ""  # key of the Discord server; the queue is fair between servers
    sampling: Sampling | None = None  # default: the model's recommendation
    seed: int = 0  # 0 to 2**32 - 1
    max_tokens: int = 2048  # limit of the whole reply
    planning_tokens: int | None = 1024  # length at which planning is force-closed; None: never
    planning_closer: str = "</system_thinking>"
    stop: tuple[str, ...] = ()  # stop strings, which are not part of the reply
    grammar: str | None = None  # GBNF that constrains the reply
    grammar_after_planning: str | None = None
    """GBNF for the rest of a reply whose planning was force-closed, if that needs a new request."""

    speaker: str = ""  # name that may precede the reply with a colon; penalties never affect it
    reproducible: bool = False
    """Whether the same request must give the same reply, whatever else the engine does. Slower."""

    background: bool = False
    """Whether this is idle work. It waits while any reply is queued or generated, and yields to a
    new one within one step. Raises EngineBusy if the engine can't do it without delaying replies.
    """

    on_queue_position: Callable[[int], None] | None = None
    """Called on the event loop with the number of replies ahead, each time that changes."""


class FinishReason(StrEnum):
    """Why a reply ended."""

    STOP = "stop"  # end-of-turn token, stop string, or the end of the grammar
    LENGTH = "length"  # max_tokens was reached, or the context is full


@dataclass(frozen=True, slots=True)
class Finish:
    """Token counts of a finished reply."""

    reason: FinishReason
    prompt_tokens: int
    prompt_tokens_read: int  # prompt tokens that were not in the KV cache yet
    reply_tokens: int
    planning_closed_by_force: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a reply. Only the last chunk has `finish`.

    `text` never ends within a character. A closing tag that the engine wrote itself, because
    planning was over its limit, is part of it.
    """

    text: str
    finish: Finish | None = None


class Engine(Protocol):
    """Turns prompts into streams of text. Many tasks of one event loop may use it at once."""

    @property
    def info(self) -> EngineInfo:
        """The model and where it runs. Raises EngineStartError before `start` has succeeded."""
        ...

    async def start(self) -> None:
        """Load or contact the model. Further calls have no effect.

        Raises ModelFileError or EngineStartError.
        """
        ...

    async def close(self) -> None:
        """Release all resources and end the engine's processes. Further calls have no effect."""
        ...

    async def count(self, prompt: Prompt) -> int:
        """Return how many tokens `prompt` has. Raises EngineError."""
        ...

    def generate(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Stream one reply. The last chunk carries `finish`.

        Closing the generator or cancelling the task that iterates it stops the generation.
        Raises PromptTooLong, EngineBusy, EngineDied, or another EngineError.
        """
        ...


@runtime_checkable
class GrammarCheckingEngine(Protocol):
    """An engine that cannot be sure that its grammars are obeyed. Check with `isinstance`."""

    def recheck_grammar(self) -> None:
        """Verify before the next reply that grammars are obeyed, since a reply was malformed.

        If they are not, `info.supports_grammar` becomes false. Never waits and never raises.
        """
        ...


@runtime_checkable
class PrefetchingEngine(Protocol):
    """An engine that can read prompts ahead while it is idle. Check for it with `isinstance`."""

    def prefetch(self, mind: str, prompt: Prompt) -> None:
        """Announce the known beginning of the mind's next prompt.

        The engine reads it when it has no reply to generate, so that the next request has less
        to read. Never waits and never raises.
        """
        ...
