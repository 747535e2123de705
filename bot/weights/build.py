"""Build a quantised GGUF file from a checkpoint's safetensors. An interrupted build resumes.

Each shard is downloaded, copied into one unquantised GGUF file and deleted before the next, so that
the disk never holds all of them twice. llama.cpp then quantises that file, and it is deleted too.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Protocol

import filelock

from bot.errors import ModelFileError, NoSuchModel, WeightsError
from bot.weights import gguf_reader, hashes
from bot.weights.checkpoint import (
    INDEX,
    find_single_shard,
    list_indexed_shards,
    read_json,
    read_shard,
)
from bot.weights.convert import Conversion, read_float_type, read_started_type
from bot.weights.dimensions import Dimensions
from bot.weights.hub import Hub, require_space
from bot.weights.quantisation import (
    UNQUANTISED,
    estimate_layouts,
    has_importance,
    quantise,
    require_importance,
)
from bot.weights.vocabulary import FILES, read_vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from bot.weights.gguf_writer import FloatType
    from bot.weights.hub import HubRepository


class BuildProgress(Protocol):
    """Receives the progress of a build."""

    def step(self, what: str, unit: str = "bytes") -> None:
        """Start a step. Its progress follows in `unit`: bytes or tensors."""
        ...

    def progress(self, there: int, total: int) -> None:
        """Report the finished part of the step."""
        ...


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of a build in bytes: download, peak disk space, and size of the result."""

    fetched: int
    disk: int
    result: int


class Source(Protocol):
    """A place that checkpoints come from."""

    @property
    def name(self) -> str:
        """Name of the checkpoint in messages."""
        ...

    @property
    def version(self) -> str:
        """Identifies one version of the checkpoint."""
        ...

    def files(self) -> dict[str, int]:
        """Return the sizes of its files by name."""
        ...

    def get(self, name: str, told: BuildProgress | None = None, what: str = "") -> Path:
        """Return the path of a file.

        Download it first if necessary, as a step named `what`. Raise WeightsError.
        """
        ...

    def release_shard(self, name: str) -> None:
        """Release a shard that is no longer needed."""
        ...

    def release_all(self) -> None:
        """Release everything."""
        ...


class ImportanceSource(Protocol):
    """Where the importance matrix of a build comes from."""

    def find(self, unquantised: Path, told: BuildProgress) -> Path:
        """Return the file of the matrix, computed with the unquantised model if necessary.

        Raise AsideError.
        """
        ...


class LocalSource:
    """A checkpoint in a local folder, which stays unchanged."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = folder.resolve().name
        self.version = str(folder.resolve())

    def files(self) -> dict[str, int]:
        """Return the sizes of its files by name. Raise WeightsError."""
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

    def release_shard(self, name: str) -> None:
        """Keep the shard."""

    def release_all(self) -> None:
        """Keep all files."""


class HubSource:
    """A checkpoint on the hub. `folder` keeps its downloads until they are released."""

    def __init__(self, repository: HubRepository, folder: Path, hub: Hub) -> None:
        self._repository = repository
        self._all = folder
        self._folder = (
            folder / repository.commit[:12]
        )  # keeps the files of different versions apart
        self._hub = hub
        self.name = repository.name.rsplit("/", 1)[-1]
        self.version = repository.commit

    def files(self) -> dict[str, int]:
        """Return the sizes of its files by name."""
        return {name: file.size for name, file in self._repository.files.items()}

    def get(self, name: str, told: BuildProgress | None = None, what: str = "") -> Path:
        """Download a file. Raise WeightsError."""
        path = self._folder / name
        if told and not path.exists():
            told.step(what)
        self._hub.fetch(
            self._repository, self._repository.file(name), path, told.progress if told else None
        )
        return path

    def release_shard(self, name: str) -> None:
        """Delete the shard."""
        (self._folder / name).unlink(missing_ok=True)

    def release_all(self) -> None:
        """Delete all downloads."""
        shutil.rmtree(self._all, ignore_errors=True)


class Build:
    """A build of `target` from `source`. `run` does the work."""

    def __init__(
        self,
        source: Source,
        target: Path,
        quantisation: str,
        *,
        title: str = "",
        keep: bool = False,
        importance: ImportanceSource | None = None,
    ) -> None:
        """Read the checkpoint's small files.

        `keep` keeps the unquantised file. `importance` is required by the smallest quantisations.
        Raise WeightsError.
        """
        require_importance(quantisation, given=importance is not None)
        self._source = source
        self._target = target
        self._quantisation = quantisation
        self._title = title or source.name
        self._keep = keep
        self._importance = importance
        self._files = source.files()
        if "config.json" not in self._files:
            raise NoSuchModel(
                f"{source.name} has no config.json, so it is not a checkpoint. Choose a "
                "repository or folder with safetensors."
            )
        self.dimensions = Dimensions.of_config(read_json(source.get("config.json")), source.name)
        self._shards = self._list_shards()

    @cached_property
    def needs(self) -> Needs:
        """The needs of the whole build. Takes a second. Raise WeightsError."""
        shards = [self._files[name] for name in self._shards]
        if self._quantisation in UNQUANTISED:
            size = sum(prod(tensor.shape) for tensor in self.dimensions.tensors()) * 2
            return Needs(sum(shards), size + max(shards), size)
        sizes = estimate_layouts(self._title, self.dimensions, [self._quantisation])[
            self._quantisation
        ]
        size = sum(tensor.size or 0 for tensor in sizes.tensors)
        return Needs(sum(shards), sum(shards) + max(*shards, size), size)

    def run(self, told: BuildProgress) -> Path:
        """Build the file and return its path.

        Resumes an interrupted build. Raise WeightsError.
        """
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self._plain.with_name(f".{self._plain.name}.lock"), timeout=0):
                return self._run(told)
        except filelock.Timeout as error:
            raise WeightsError(
                f"Another process is building from {self._source.name}. Wait until it finishes."
            ) from error
        except OSError as error:
            raise WeightsError(
                f"{self._target} can't be written ({error.strerror or error}). Choose another "
                "folder."
            ) from error

    def _run(self, told: BuildProgress) -> Path:
        if not _is_whole(self._target) or (self._importance and not has_importance(self._target)):
            self._make(told)
        if hashes.load_sha256(self._target) is None:
            told.step("Computing the checksum")
            hashes.save_sha256(self._target, hashes.sha256(self._target, told.progress))
        self._source.release_all()
        return self._target

    def _make(self, told: BuildProgress) -> None:
        hashes.delete_sha256(self._target)
        if not _is_whole(self._plain):
            self._convert(told)
        if self._plain != self._target:
            matrix = self._importance.find(self._plain, told) if self._importance else None
            require_space(
                self._target.parent, self.needs.result, f"Quantising to {self._target.name}"
            )
            told.step(f"Quantising to {self._quantisation}", "tensors")
            quantise(self._plain, self._target, self._quantisation, told.progress, matrix)
            if not self._keep:
                self._plain.unlink()

    @property
    def _plain(self) -> Path:
        """The unquantised file, from which every quantisation of a checkpoint is made."""
        if self._quantisation in UNQUANTISED:
            return self._target
        return self._target.with_name(f"{self._title.replace(' ', '-')}.unquantised.gguf")

    def _convert(self, told: BuildProgress) -> None:
        there = self._plain.with_name(f"{self._plain.name}.part")
        done = there.stat().st_blocks * 512 if there.is_file() else 0  # the file has holes
        require_space(self._plain.parent, self.needs.disk - done, f"Building {self._target.name}")
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
                shard = self._fetch_shard(number, told)
                told.step(f"Converting shard {number} of {len(self._shards)}")
                conversion.take(shard, told.progress)
            self._source.release_shard(name)
        conversion.finish()

    def _fetch_shard(self, number: int, told: BuildProgress) -> Path:
        return self._source.get(
            self._shards[number - 1], told, f"Downloading shard {number} of {len(self._shards)}"
        )

    def _kind(self, told: BuildProgress) -> FloatType:
        """Return the type of the unquantised file: as requested, as in an interrupted build, or as
        in the first shard.
        """
        if self._quantisation in UNQUANTISED:
            return self._quantisation  # type: ignore[return-value] # the constant holds exactly these
        if kind := read_started_type(self._plain, self._source.version):
            return kind
        shard = self._fetch_shard(1, told)
        matrices = [tensor for tensor in read_shard(shard).values() if len(tensor.shape) > 1]
        return read_float_type(shard, matrices[0]) if matrices else "BF16"

    def _list_shards(self) -> tuple[str, ...]:
        if INDEX not in self._files:
            return find_single_shard(self._files, self._source.name)
        shards = list_indexed_shards(read_json(self._source.get(INDEX)), self._source.name)
        if missing := [name for name in shards if name not in self._files]:
            raise WeightsError(
                f"{self._source.name} is incomplete: {missing[0]}, which its index lists, is "
                "missing. Download it again."
            )
        return shards


def _is_whole(path: Path) -> bool:
    try:
        gguf_reader.check_model(path)
    except ModelFileError:
        return False
    return True
