"""What an engine is. Everything that needs text generated depends on this and on no kind of engine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.her.prompt import Prompt


class Dialect(StrEnum):
    """How a model is spoken to: HER's own layout, or the plain one of a stand-in that was never trained on it."""

    HER = "her"
    STAND_IN = "stand-in"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn. Defaults are those HER was evaluated with; 0, 1.0 or None switch a sampler off."""

    temperature: float = 0.7
    top_p: float = 0.9
    top_k: int = 0
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    dry: float = 0.0  # strength of DRY, which holds back phrases that repeat; 0.8 is usual


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What runs, where: known once the engine has started, shown at start and by `aside doctor`."""

    kind: str  # "local" or "remote", or a test's own word
    model: str  # the name people know the model by
    dialect: Dialect
    context: int  # tokens one mind may use, prompt and reply together
    device: str  # "CPU", "CUDA0 (NVIDIA RTX 4090)", a server's address …
    layers_offloaded: int = 0
    layers: int = 0
    warning: str | None = (
        None  # one sentence that must be said aloud: a GPU asked for and not used, a stand-in
    )
    stand_in: bool = False  # True for the demo model: the program says plainly that it is no HER
    sampling: Sampling = Sampling()  # what the model's makers recommend
    supports_grammar: bool = False  # True where a grammar holds replies to HER's structure
    minds: int = 1  # replies generated at once; others wait
    memory: str = ""  # how the model was laid into memory, in words, where the engine chose it


@dataclass(frozen=True, slots=True)
class Request:
    """One reply to generate."""

    prompt: Prompt
    mind: str  # stable key of the mind: its earlier state may be reused
    guild: str = ""  # key by which engines are fair between servers
    sampling: Sampling | None = None  # None: the model's recommended sampling
    seed: int = 0  # 0 to 2**32 - 1
    max_tokens: int = 2048  # limit of the whole reply
    planning_tokens: int | None = (
        1024  # when the open planning block is closed by force; None: never
    )
    planning_closer: str = "</system_thinking>"
    stop: tuple[str, ...] = ()  # the reply ends before any of these, which are not emitted
    grammar: str | None = None  # GBNF the reply is held to
    on_queue_position: Callable[[int], None] | None = (
        None  # called on the loop, while the reply waits, with how many come first
    )


class FinishReason(StrEnum):
    """Why a reply ended."""

    STOP = "stop"  # end-of-turn token, stop string, or the grammar's end
    LENGTH = "length"  # max_tokens, or the context is full


@dataclass(frozen=True, slots=True)
class Finish:
    """Counts of a reply that has ended, in tokens."""

    reason: FinishReason
    prompt_tokens: int
    prompt_tokens_read: int  # those the engine really had to read: the others were remembered
    reply_tokens: int
    planning_closed_by_force: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a reply as it streams. `text` never ends in half a character; `finish` is set on the last chunk only.

    A closing tag that the engine wrote itself (planning over its limit) is part of the text.
    """

    text: str
    finish: Finish | None = None


class Engine(Protocol):
    """Turns prompts into streams of text. Safe to call from many tasks of one event loop at once."""

    @property
    def info(self) -> EngineInfo:
        """What runs, where. Raises EngineStartError before `start` has ended well."""
        ...

    async def start(self) -> None:
        """Make the engine ready. Raises ModelFileError or EngineStartError. Starting twice does nothing."""
        ...

    async def close(self) -> None:
        """Free everything the engine holds and end its processes. Closing twice does nothing."""
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
class PrefetchingEngine(Protocol):
    """An engine that can use its idle time: worth a look with isinstance after a reply was stored."""

    def prefetch(self, mind: str, prompt: Prompt) -> None:
        """Say what the mind's next prompt will be, as far as it is known, so that only what is new must be read then.

        Costs nothing where the engine has something better to do; never waits, never raises.
        """
        ...
