"""Messages between the bot and the worker process: JSON with a four-byte length prefix."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from bot.engine.local.model_traits import ModelTraits  # noqa: TC001 - pydantic needs it at run time
from bot.engine.protocol import Finish, Sampling  # noqa: TC001 - pydantic needs them at run time
from bot.her.prompt import Control, Text  # noqa: TC001 - pydantic needs them at run time
from bot.weights.memory_plan import CacheType  # noqa: TC001 - pydantic needs it at run time

if TYPE_CHECKING:
    from typing import BinaryIO

HEADER: Final = struct.Struct(">I")


class WorkerMessage(BaseModel):
    """Base class of all messages."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Load(WorkerMessage):
    """Command: load this model. Sent once, before all others."""

    kind: Literal["load"] = "load"
    path: str
    name: str | None
    context: int | None
    minds: int | None
    gpu_layers: int | Literal["auto", "all"]
    cache_type: CacheType | None
    rpc: tuple[str, ...]
    host_memory: int
    skip_plans: int = 0  # number of the best plans to skip, since they ran out of memory before
    skip_choices: int = 0  # number of automatic choices to step down from, since they crashed
    flash_attention: str
    threads: int | None
    check_memory: bool


class Generate(WorkerMessage):
    """Command: generate a reply. All events about the reply carry its id."""

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
    speaker: str = ""
    reproducible: bool = False
    background: bool = False


class Cancel(WorkerMessage):
    """Command: stop generating this reply."""

    kind: Literal["cancel"] = "cancel"
    id: int


class Count(WorkerMessage):
    """Command: count the tokens of these parts."""

    kind: Literal["count"] = "count"
    id: int
    parts: tuple[Control | Text, ...]


class Prefetch(WorkerMessage):
    """Command: prefill the beginning of a mind's next prompt when no reply is active."""

    kind: Literal["prefetch"] = "prefetch"
    mind: str
    parts: tuple[Control | Text, ...]


class Ready(WorkerMessage):
    """Event: the model is loaded."""

    kind: Literal["ready"] = "ready"
    model: str
    context: int
    minds: int
    memory: str
    device: str
    layers: int
    layers_offloaded: int
    warning: str | None
    traits: ModelTraits


class LoadFailed(WorkerMessage):
    """Event: the model cannot be loaded, and the worker exits. `fault` "file" blames its file."""

    kind: Literal["load_failed"] = "load_failed"
    fault: Literal["file", "start"]
    text: str


class Heartbeat(WorkerMessage):
    """Event, twice a second: the worker is alive. `step_seconds` is the age of the current step."""

    kind: Literal["heartbeat"] = "heartbeat"
    step_seconds: float


class Started(WorkerMessage):
    """Event: a reply has left the queue."""

    kind: Literal["started"] = "started"
    id: int


class QueuePosition(WorkerMessage):
    """Event: a reply waits in the queue with `position` replies ahead of it."""

    kind: Literal["queue_position"] = "queue_position"
    id: int
    position: int


class Generated(WorkerMessage):
    """Event: a chunk of a reply."""

    kind: Literal["generated"] = "generated"
    id: int
    text: str


class Finished(WorkerMessage):
    """Event: a reply has ended."""

    kind: Literal["finished"] = "finished"
    id: int
    finish: Finish


class Failed(WorkerMessage):
    """Event: a command failed."""

    kind: Literal["failed"] = "failed"
    id: int
    fault: Literal["prompt", "busy", "other"]
    text: str


class Counted(WorkerMessage):
    """Event: the answer to Count."""

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
    """Return a message with its length prefix."""
    body = message.model_dump_json().encode()
    return HEADER.pack(len(body)) + body


def read_command(stream: BinaryIO) -> Command | None:
    """Read the next command, blocking. Return None at the end of the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    body = stream.read(length)
    return COMMANDS.validate_json(body) if len(body) == length else None
