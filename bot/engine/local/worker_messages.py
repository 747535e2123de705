"""What the bot and the worker process say to each other: JSON messages, each after its length in four bytes."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from bot.engine.protocol import Finish, Sampling  # noqa: TC001 - pydantic needs them at run time
from bot.her.prompt import Control, Text  # noqa: TC001 - pydantic needs them at run time
from bot.weights.memory_plan import CacheType  # noqa: TC001 - pydantic needs it at run time

if TYPE_CHECKING:
    from typing import BinaryIO

HEAD: Final = struct.Struct(">I")


class WorkerMessage(BaseModel):
    """Base of all messages."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Load(WorkerMessage):
    """To the worker, first and once: load this model."""

    kind: Literal["load"] = "load"
    path: str
    name: str | None
    context: int | None
    minds: int | None
    gpu_layers: int | Literal["auto", "all"]
    cache_type: CacheType | None
    rpc: tuple[str, ...]
    host_memory: int
    smaller: int = 0  # how many of the best plans not to try: they have run out of memory before
    flash_attention: str
    threads: int | None
    check_memory: bool


class Generate(WorkerMessage):
    """To the worker: write a reply. Its id is answered in all events about it."""

    kind: Literal["generate"] = "generate"
    id: int
    parts: tuple[Control | Text, ...]
    prefill: str
    mind: str
    guild: str
    sampling: Sampling
    seed: int
    max_tokens: int
    planning_tokens: int | None
    planning_closer: str
    stop: tuple[str, ...]
    grammar: str | None


class Cancel(WorkerMessage):
    """To the worker: this reply is no longer wanted."""

    kind: Literal["cancel"] = "cancel"
    id: int


class Count(WorkerMessage):
    """To the worker: how many tokens have these parts?"""

    kind: Literal["count"] = "count"
    id: int
    parts: tuple[Control | Text, ...]


class Prefetch(WorkerMessage):
    """To the worker: a mind's next prompt will begin like this; read it when there is time."""

    kind: Literal["expect"] = "expect"
    mind: str
    parts: tuple[Control | Text, ...]


class Ready(WorkerMessage):
    """The model is loaded."""

    kind: Literal["ready"] = "ready"
    model: str
    context: int
    minds: int
    memory: str
    device: str
    layers: int
    layers_offloaded: int
    warning: str | None


class LoadFailed(WorkerMessage):
    """The model can't be loaded; the worker ends. `fault` says whether its file is to blame."""

    kind: Literal["load_failed"] = "load_failed"
    fault: Literal["file", "start"]
    text: str


class Heartbeat(WorkerMessage):
    """A sign of life, about once a second, with the seconds that the step under way has taken so far."""

    kind: Literal["beat"] = "beat"
    step_seconds: float


class Started(WorkerMessage):
    """A reply has left the queue."""

    kind: Literal["began"] = "began"
    id: int


class QueuePosition(WorkerMessage):
    """A reply waits, and so many come before it."""

    kind: Literal["place"] = "place"
    id: int
    place: int


class Generated(WorkerMessage):
    """A piece of a reply."""

    kind: Literal["wrote"] = "wrote"
    id: int
    text: str


class Finished(WorkerMessage):
    """A reply has ended."""

    kind: Literal["finished"] = "finished"
    id: int
    finish: Finish


class Failed(WorkerMessage):
    """A reply or a count could not be made."""

    kind: Literal["failed"] = "failed"
    id: int
    fault: Literal["prompt", "other"]
    text: str


class Counted(WorkerMessage):
    """The answer to Count."""

    kind: Literal["counted"] = "counted"
    id: int
    tokens: int


Command: TypeAlias = Load | Generate | Cancel | Count | Prefetch
Event: TypeAlias = (
    Ready
    | LoadFailed
    | Heartbeat
    | Started
    | QueuePosition
    | Generated
    | Finished
    | Failed
    | Counted
)

COMMANDS: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="kind")])
EVENTS: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])


def pack(message: WorkerMessage) -> bytes:
    """Return a message as it travels."""
    body = message.model_dump_json().encode()
    return HEAD.pack(len(body)) + body


def read_command(stream: BinaryIO) -> Command | None:
    """Read the next command; blocks. None where the stream has ended."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    (length,) = HEAD.unpack(head)
    body = stream.read(length)
    return COMMANDS.validate_json(body) if len(body) == length else None
