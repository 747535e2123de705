"""From the shards of a checkpoint to one GGUF file, shard by shard, however often it is broken off.

The file has its final size from the beginning. What was taken from which shard is noted beside it, so that the shard
may be deleted and the rest taken tomorrow. Numbers are copied as they are; memory holds a few million at once.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter, ValidationError

from bot.errors import WeightsError
from bot.weights.checkpoint import read_shard
from bot.weights.gguf_writer import write_header
from bot.weights.tensor_copy import copied

if TYPE_CHECKING:
    from pathlib import Path

    from gguf.utility import LocalTensor

    from bot.weights.dimensions import Dimensions
    from bot.weights.gguf_writer import FloatType, TensorPlacement
    from bot.weights.hub import Progress
    from bot.weights.vocabulary import Vocabulary

_KINDS: Final[dict[str, FloatType]] = {"F32": "F32", "F16": "F16", "BF16": "BF16"}


class Conversion:
    """The GGUF file in the making. `target` appears when `finish` is called."""

    def __init__(
        self,
        target: Path,
        dimensions: Dimensions,
        vocabulary: Vocabulary,
        kind: FloatType,
        name: str,
        origin: str = "",
    ) -> None:
        """Begin, or go on where an earlier attempt at the same was broken off. Raises WeightsError.

        `origin` tells versions of a checkpoint apart, whose shards must not be mixed.
        """
        self._target = target
        self._part = target.with_name(f"{target.name}.part")
        self._notes = target.with_name(f"{target.name}.part.json")
        self._kind = kind
        self._origin = origin
        self._done = _read_notes(self._notes).done if begun(target, origin) == kind else {}
        fresh = target.with_name(f"{target.name}.new")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            places = write_header(fresh, dimensions, kind, name, vocabulary)
            if not (self._done and _same_front(fresh, self._part, places[0].start)):
                self._done = {}
                fresh.replace(self._part)
        except OSError as error:
            raise _unwritable(self._part, error) from error
        finally:
            fresh.unlink(missing_ok=True)
        self._places = {place.tensor.source: place for place in places}

    @property
    def done(self) -> frozenset[str]:
        """Names of the shards that aren't needed any more."""
        return frozenset(self._done)

    def take(self, shard: Path, progress: Progress | None = None) -> None:
        """Copy every tensor of a shard to its place; `progress` hears of the bytes.

        Raises WeightsError where the shard is cut off, holds what the model hasn't, or can't be stored.
        """
        tensors = read_shard(shard)
        wanted = {
            name: self._place(shard, name, tensor)
            for name, tensor in tensors.items()
            if not self._skip(name)
        }
        total, there = sum(tensors[name].data_range.size for name in wanted), 0
        try:
            with (
                shard.open("rb", buffering=0) as source,
                self._part.open("r+b", buffering=0) as target,
            ):
                for name, place in wanted.items():
                    for size in copied(source, target, tensors[name], place):
                        there += size
                        if progress:
                            progress(there, total)
                os.fsync(target.fileno())
            self._note(shard.name, sorted(wanted))
        except OSError as error:
            raise _unwritable(self._part, error) from error

    def finish(self) -> None:
        """Give the file its name. Raises WeightsError where tensors are missing."""
        there = {name for names in self._done.values() for name in names}
        if missing := sorted(self._places.keys() - there):
            raise WeightsError(
                f"The checkpoint lacks {len(missing)} tensors, such as {missing[0]}: it is not whole, or no Qwen3."
            )
        self._part.replace(self._target)
        self._notes.unlink(missing_ok=True)

    def _place(self, shard: Path, name: str, tensor: LocalTensor) -> TensorPlacement:
        place = self._places.get(name)
        if place is None:
            raise WeightsError(
                f"{shard.name} holds a tensor {name}, which a Qwen3 hasn't: it can't be converted."
            )
        if tensor.shape != place.tensor.shape:
            raise WeightsError(
                f"The tensor {name} in {shard.name} has the shape {tensor.shape}, but by config.json it must have "
                f"{place.tensor.shape}."
            )
        kind_in(shard, tensor)
        return place

    def _skip(self, name: str) -> bool:
        """Frequencies that old tools saved, and an output that is the embeddings again: llama.cpp makes both itself."""
        return name.endswith("rotary_emb.inv_freq") or (
            name == "lm_head.weight" and name not in self._places
        )

    def _note(self, shard: str, names: list[str]) -> None:
        self._done[shard] = names
        new = self._notes.with_name(f"{self._notes.name}.new")
        new.write_text(
            json.dumps({"kind": self._kind, "origin": self._origin, "done": self._done}),
            encoding="utf-8",
        )
        new.replace(self._notes)


def kind_in(shard: Path, tensor: LocalTensor) -> FloatType:
    """Return the type of a tensor's numbers. Raises WeightsError where it is none that can be converted."""
    if tensor.dtype not in _KINDS:
        raise WeightsError(
            f"{shard.name} holds numbers of type {tensor.dtype}, which can't be converted: BF16, F16 and F32 can."
        )
    return _KINDS[tensor.dtype]


def begun(target: Path, origin: str = "") -> FloatType | None:
    """Return the type of numbers that an earlier attempt at `target` began with, if it had the same origin."""
    notes = _read_notes(target.with_name(f"{target.name}.part.json"))
    return _KINDS.get(notes.kind) if notes.origin == origin else None


@dataclass(frozen=True, slots=True)
class _Notes:
    """The type of numbers that was begun with, the checkpoint's version, and which tensors came from which shard."""

    kind: str = ""
    origin: str = ""
    done: dict[str, list[str]] = field(default_factory=dict)


def _read_notes(path: Path) -> _Notes:
    try:
        return TypeAdapter(_Notes).validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return _Notes()


def _same_front(fresh: Path, part: Path, length: int) -> bool:
    """Whether both are of the same size and begin alike, so that they are for the same tensors in the same places."""
    if not part.is_file() or part.stat().st_size != fresh.stat().st_size:
        return False
    with fresh.open("rb") as one, part.open("rb") as other:
        return one.read(length) == other.read(length)


def _unwritable(path: Path, error: OSError) -> WeightsError:
    return WeightsError(
        f"{path} couldn't be written ({error.strerror or error}): is the disk full?"
    )
