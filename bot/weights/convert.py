"""Convert a checkpoint to one GGUF file, shard by shard. An interrupted conversion resumes.

The file has its final size from the start. Notes beside it say which tensors came from which shard,
so that a shard can be deleted before the next one is downloaded. Numbers are copied unchanged, a
few million at a time.
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
from bot.weights.tensor_copy import copy_tensor

if TYPE_CHECKING:
    from pathlib import Path

    from gguf.utility import LocalTensor

    from bot.weights.dimensions import Dimensions
    from bot.weights.gguf_writer import FloatType, TensorPlacement
    from bot.weights.hub import Progress
    from bot.weights.vocabulary import Vocabulary

_KINDS: Final[dict[str, FloatType]] = {"F32": "F32", "F16": "F16", "BF16": "BF16"}


class Conversion:
    """A GGUF file under construction. `finish` gives it its final name."""

    def __init__(
        self,
        target: Path,
        dimensions: Dimensions,
        vocabulary: Vocabulary,
        kind: FloatType,
        name: str,
        origin: str = "",
    ) -> None:
        """Start, or resume an interrupted conversion of the same checkpoint. Raise WeightsError.

        `origin` identifies the version of the checkpoint, because shards of different versions must
        not be mixed.
        """
        self._target = target
        self._part = target.with_name(f"{target.name}.part")
        self._notes = target.with_name(f"{target.name}.part.json")
        self._kind = kind
        self._origin = origin
        self._done = (
            _read_notes(self._notes).done if read_started_type(target, origin) == kind else {}
        )
        fresh = target.with_name(f"{target.name}.new")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            places = write_header(fresh, dimensions, kind, name, vocabulary)
            if not (self._done and _has_same_header(fresh, self._part, places[0].start)):
                self._done = {}
                fresh.replace(self._part)
        except OSError as error:
            raise _describe_write_error(self._part, error) from error
        finally:
            fresh.unlink(missing_ok=True)
        self._places = {place.tensor.source: place for place in places}

    @property
    def done(self) -> frozenset[str]:
        """Names of the shards that are completely copied."""
        return frozenset(self._done)

    def take(self, shard: Path, progress: Progress | None = None) -> None:
        """Copy every tensor of a shard. `progress` receives the number of bytes.

        Raise WeightsError if the shard is truncated, has unknown tensors, or can't be stored.
        """
        tensors = read_shard(shard)
        wanted = {
            name: self._place(shard, name, tensor)
            for name, tensor in tensors.items()
            if not self._skip(name)
        }
        total = sum(tensors[name].data_range.size for name in wanted)
        there = 0
        try:
            with (
                shard.open("rb", buffering=0) as source,
                self._part.open("r+b", buffering=0) as target,
            ):
                for name, place in wanted.items():
                    for size in copy_tensor(source, target, tensors[name], place):
                        there += size
                        if progress:
                            progress(there, total)
                os.fsync(target.fileno())
            self._note(shard.name, sorted(wanted))
        except OSError as error:
            raise _describe_write_error(self._part, error) from error

    def finish(self) -> None:
        """Give the file its final name. Raise WeightsError if tensors are missing."""
        there = {name for names in self._done.values() for name in names}
        if missing := sorted(self._places.keys() - there):
            raise WeightsError(
                f"The checkpoint lacks {len(missing)} tensors, such as {missing[0]}. It is "
                "incomplete or not a Qwen3."
            )
        self._part.replace(self._target)
        self._notes.unlink(missing_ok=True)

    def _place(self, shard: Path, name: str, tensor: LocalTensor) -> TensorPlacement:
        place = self._places.get(name)
        if place is None:
            raise WeightsError(
                f"{shard.name} has the tensor {name}, which is unknown in Qwen3, so it can't "
                "be converted."
            )
        if tensor.shape != place.tensor.shape:
            raise WeightsError(
                f"The tensor {name} in {shard.name} has the shape {tensor.shape}, but "
                f"config.json requires {place.tensor.shape}. Download the checkpoint again."
            )
        read_float_type(shard, tensor)
        return place

    def _skip(self, name: str) -> bool:
        """Return whether llama.cpp computes this tensor itself: rotary frequencies, or an output
        tied to the embeddings.
        """
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


def read_float_type(shard: Path, tensor: LocalTensor) -> FloatType:
    """Return the float type of a tensor. Raise WeightsError if it can't be converted."""
    if tensor.dtype not in _KINDS:
        raise WeightsError(
            f"{shard.name} has numbers of type {tensor.dtype}, which can't be converted. Use "
            "BF16, F16 or F32."
        )
    return _KINDS[tensor.dtype]


def read_started_type(target: Path, origin: str = "") -> FloatType | None:
    """Return the float type of an interrupted conversion to `target` with the same origin, if there
    is one.
    """
    notes = _read_notes(target.with_name(f"{target.name}.part.json"))
    return _KINDS.get(notes.kind) if notes.origin == origin else None


@dataclass(frozen=True, slots=True)
class _Notes:
    """Progress of a conversion: float type, version of the checkpoint, and the copied tensors of
    each shard.
    """

    kind: str = ""
    origin: str = ""
    done: dict[str, list[str]] = field(default_factory=dict)


def _read_notes(path: Path) -> _Notes:
    try:
        return TypeAdapter(_Notes).validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return _Notes()


def _has_same_header(fresh: Path, part: Path, length: int) -> bool:
    """Return whether two files have the same size and header, and therefore the same tensors in the
    same places.
    """
    if not part.is_file() or part.stat().st_size != fresh.stat().st_size:
        return False
    with fresh.open("rb") as one, part.open("rb") as other:
        return one.read(length) == other.read(length)


def _describe_write_error(path: Path, error: OSError) -> WeightsError:
    return WeightsError(
        f"{path} can't be written ({error.strerror or error}). Check whether the disk is full."
    )
