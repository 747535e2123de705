"""From a checkpoint's safetensors to a quantised GGUF file, in steps that go on where they were broken off.

Shards are fetched, copied into one unquantised GGUF file, and deleted, one after the other, so that there is never
room needed for all of them twice; then llama.cpp quantises that file, and it is deleted too.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Protocol

import filelock

from bot.errors import ModelFileError, WeightsError
from bot.weights import gguf_reader, hashes
from bot.weights.checkpoint import INDEX, read_json, read_shard, shards_among, shards_in
from bot.weights.convert import Conversion, begun, kind_in
from bot.weights.dimensions import Dimensions
from bot.weights.hub import Hub, check_room
from bot.weights.quantisation import UNQUANTISED, laid_out, quantise
from bot.weights.vocabulary import FILES, read_vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from bot.weights.gguf_writer import FloatType
    from bot.weights.hub import HubRepository


class BuildProgress(Protocol):
    """Hears how a build goes on."""

    def step(self, what: str, unit: str = "bytes") -> None:
        """A step begins; progress of it follows, in bytes or in tensors."""
        ...

    def progress(self, there: int, total: int) -> None:
        """So much of the step is done."""
        ...


@dataclass(frozen=True, slots=True)
class Needs:
    """What a build needs, in bytes: what is fetched, how much disk at the worst moment, and how large the result is."""

    fetched: int
    disk: int
    result: int


class Source(Protocol):
    """Where a checkpoint comes from."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def version(self) -> str:
        """Tells one state of the checkpoint from another."""
        ...

    def files(self) -> dict[str, int]:
        """Return its files with their sizes."""
        ...

    def get(self, name: str, told: BuildProgress | None = None, what: str = "") -> Path:
        """Return the path of a file, fetched if need be; that is a step, told as `what`. Raises WeightsError."""
        ...

    def done_with(self, name: str) -> None:
        """Hear that a shard isn't needed any more."""
        ...

    def finished(self) -> None:
        """Hear that nothing is needed any more."""
        ...


class LocalSource:
    """A checkpoint in a folder, which is left as it is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = folder.resolve().name
        self.version = str(folder.resolve())

    def files(self) -> dict[str, int]:
        """Return its files with their sizes. Raises WeightsError."""
        try:
            return {
                path.name: path.stat().st_size for path in self._folder.iterdir() if path.is_file()
            }
        except OSError as error:
            raise WeightsError(
                f"{self._folder} can't be read ({error.strerror or error})."
            ) from error

    def get(self, name: str, told: BuildProgress | None = None, what: str = "") -> Path:  # noqa: ARG002 - nothing to wait for
        """Return the path of a file."""
        return self._folder / name

    def done_with(self, name: str) -> None:
        """Keep it."""

    def finished(self) -> None:
        """Keep everything."""


class HubSource:
    """A checkpoint on the hub. What is fetched is kept in `folder`, which is its own, until it is done with."""

    def __init__(self, repository: HubRepository, folder: Path, hub: Hub) -> None:
        self._repository = repository
        self._all = folder
        self._folder = (
            folder / repository.commit[:12]
        )  # an older version's files are never taken for this one's
        self._hub = hub
        self.name = repository.name.rsplit("/", 1)[-1]
        self.version = repository.commit

    def files(self) -> dict[str, int]:
        """Return its files with their sizes."""
        return {name: file.size for name, file in self._repository.files.items()}

    def get(self, name: str, told: BuildProgress | None = None, what: str = "") -> Path:
        """Fetch a file. Raises WeightsError."""
        path = self._folder / name
        if told and not path.exists():
            told.step(what)
        self._hub.fetch(
            self._repository, self._repository.file(name), path, told.progress if told else None
        )
        return path

    def done_with(self, name: str) -> None:
        """Delete it."""
        (self._folder / name).unlink(missing_ok=True)

    def finished(self) -> None:
        """Delete everything that was fetched."""
        shutil.rmtree(self._all, ignore_errors=True)


class Build:
    """One file to build: `target` from `source`. Nothing happens before `run`."""

    def __init__(
        self,
        source: Source,
        target: Path,
        quantisation: str,
        *,
        title: str = "",
        keep: bool = False,
    ) -> None:
        """Look at the checkpoint's small files. `keep`: the unquantised file stays. Raises WeightsError."""
        self._source = source
        self._target = target
        self._quantisation = quantisation
        self._title = title or source.name
        self._keep = keep
        self._files = source.files()
        if "config.json" not in self._files:
            raise WeightsError(
                f"{source.name} has no config.json: it is no checkpoint that could be converted."
            )
        self.dimensions = Dimensions.of_config(read_json(source.get("config.json")), source.name)
        self._shards = self._listed()

    @cached_property
    def needs(self) -> Needs:
        """What it takes from the beginning to the end. Takes a second. Raises WeightsError."""
        shards = [self._files[name] for name in self._shards]
        if self._quantisation in UNQUANTISED:
            size = sum(prod(tensor.shape) for tensor in self.dimensions.tensors()) * 2
            return Needs(sum(shards), size + max(shards), size)
        sizes = laid_out(self._title, self.dimensions, [self._quantisation])[self._quantisation]
        size = sum(tensor.size or 0 for tensor in sizes.tensors)
        return Needs(sum(shards), sum(shards) + max(*shards, size), size)

    def run(self, told: BuildProgress) -> Path:
        """Build the file and return its path. Raises WeightsError; the same again goes on where it broke off."""
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self._plain.with_name(f".{self._plain.name}.lock"), timeout=0):
                return self._run(told)
        except filelock.Timeout as error:
            raise WeightsError(
                f"Another process builds from {self._source.name} already: let it end first."
            ) from error
        except OSError as error:
            raise WeightsError(
                f"{self._target} couldn't be written ({error.strerror or error}): choose another folder."
            ) from error

    def _run(self, told: BuildProgress) -> Path:
        if not _whole(self._target):
            self._make(told)
        if hashes.noted(self._target) is None:
            told.step("Computing the checksum")
            hashes.note(self._target, hashes.sha256(self._target, told.progress))
        self._source.finished()
        return self._target

    def _make(self, told: BuildProgress) -> None:
        hashes.forget(self._target)
        if not _whole(self._plain):
            self._convert(told)
        if self._plain != self._target:
            check_room(self._target.parent, self.needs.result, f"Quantising to {self._target.name}")
            told.step(f"Quantising to {self._quantisation}", "tensors")
            quantise(self._plain, self._target, self._quantisation, told.progress)
            if not self._keep:
                self._plain.unlink()

    @property
    def _plain(self) -> Path:
        """The unquantised file, which all quantisations of a checkpoint are made from."""
        if self._quantisation in UNQUANTISED:
            return self._target
        return self._target.with_name(f"{self._title.replace(' ', '-')}.unquantised.gguf")

    def _convert(self, told: BuildProgress) -> None:
        there = self._plain.with_name(f"{self._plain.name}.part")
        done = there.stat().st_blocks * 512 if there.is_file() else 0  # it has holes
        check_room(self._plain.parent, self.needs.disk - done, f"Building {self._target.name}")
        for name in FILES:
            if name in self._files:
                self._source.get(name)
        vocabulary = read_vocabulary(
            self._source.get("config.json").parent, self.dimensions.vocab_size
        )
        conversion = Conversion(
            self._plain,
            self.dimensions,
            vocabulary,
            self._kind(told),
            self._title,
            self._source.version,
        )
        for number, name in enumerate(self._shards, 1):
            if name not in conversion.done:
                shard = self._fetched(number, told)
                told.step(f"Converting shard {number} of {len(self._shards)}")
                conversion.take(shard, told.progress)
            self._source.done_with(name)
        conversion.finish()

    def _fetched(self, number: int, told: BuildProgress) -> Path:
        return self._source.get(
            self._shards[number - 1], told, f"Fetching shard {number} of {len(self._shards)}"
        )

    def _kind(self, told: BuildProgress) -> FloatType:
        """The type of the unquantised file: as asked for, or as begun with, else that of the first shard's matrices."""
        if self._quantisation in UNQUANTISED:
            return self._quantisation  # type: ignore[return-value] # the constant holds exactly these
        if kind := begun(self._plain, self._source.version):
            return kind
        shard = self._fetched(1, told)
        matrices = [tensor for tensor in read_shard(shard).values() if len(tensor.shape) > 1]
        return kind_in(shard, matrices[0]) if matrices else "BF16"

    def _listed(self) -> tuple[str, ...]:
        if INDEX not in self._files:
            return shards_among(self._files, self._source.name)
        shards = shards_in(read_json(self._source.get(INDEX)), self._source.name)
        if missing := [name for name in shards if name not in self._files]:
            raise WeightsError(
                f"{self._source.name} lacks {missing[0]}, which its index lists: it is not whole."
            )
        return shards


def _whole(path: Path) -> bool:
    try:
        gguf_reader.check(path)
    except ModelFileError:
        return False
    return True
