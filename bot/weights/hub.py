"""Fetches model files from the Hugging Face hub, through the hub's own client."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import huggingface_hub
from huggingface_hub import errors
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined] # whichever client the hub's library uses
from huggingface_hub.utils import tqdm  # type: ignore[attr-defined] # documented there

from bot.errors import ModelFileError, UserInputError, WeightsError
from bot.weights import gguf_file

if TYPE_CHECKING:
    from pathlib import Path

# Called from the fetching thread with the bytes that are there and the bytes there will be.
Progress: TypeAlias = Callable[[int, int], None]

_MARGIN = 256 * 2**20  # free bytes left on the disk


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a hub repository."""

    repo: str
    name: str

    def __str__(self) -> str:
        return f"hf:{self.repo}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> HubFile:
        """Read `OWNER/REPO/FILE.gguf`. Raises UserInputError where it isn't of that form, or names no GGUF file."""
        pieces = text.strip().strip("/").split("/")
        if len(pieces) < 3 or not all(pieces) or ".." in pieces:
            raise UserInputError(f"hf:{text} names no file of the hub: write hf:OWNER/REPO/FILE.gguf.")
        if not pieces[-1].endswith(".gguf"):
            raise UserInputError(f"hf:{text} is no GGUF file: choose one whose name ends in .gguf.")
        return cls("/".join(pieces[:2]), "/".join(pieces[2:]))


def stored(file: HubFile, folder: Path) -> Path | None:
    """Return the path of `file` where all its parts lie in `folder` already, whole."""
    path = _home(file, folder) / file.name
    try:
        gguf_file.check(path)
    except ModelFileError:
        return None
    return path


def fetch(file: HubFile, folder: Path, progress: Progress | None = None) -> Path:
    """Fetch `file`, with the other parts it may be split into, and return its path.

    Blocks; goes on where an earlier attempt was broken off.

    A private or gated repository needs a token in the environment variable HF_TOKEN, which only the hub's client reads.
    Raises WeightsError, or ModelFileError where what came is no whole GGUF.
    """
    home = _home(file, folder)
    names = [str(part.relative_to(home)) for part in gguf_file.parts(home / file.name)]
    try:
        missing = sum(_missing(file.repo, name, home) for name in names)
        _check_room(file, missing, folder)
        meter = _meter(missing, progress)
        for name in names:
            huggingface_hub.hf_hub_download(file.repo, name, local_dir=home, tqdm_class=meter)
    except (HTTPError, errors.HFValidationError, OSError, ValueError) as error:
        raise WeightsError(_explain(file, error)) from error
    gguf_file.check(home / file.name)
    return home / file.name


def _home(file: HubFile, folder: Path) -> Path:
    return folder / file.repo.replace("/", "--")


def _missing(repo: str, name: str, home: Path) -> int:
    facts = huggingface_hub.hf_hub_download(repo, name, local_dir=home, dry_run=True)
    return (facts.file_size or 0) if facts.will_download else 0


def _check_room(file: HubFile, missing: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if missing and free < missing + _MARGIN:
        raise WeightsError(
            f"{file} needs {missing / 2**30:.1f} GiB, but only {free / 2**30:.1f} GiB are free in {folder}: "
            "make room, or keep the weights elsewhere."
        )


def _meter(total: int, progress: Progress | None) -> type[tqdm]:
    """A tqdm class that draws nothing and tells `progress`."""
    there = 0

    class Meter(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})  # type: ignore[no-untyped-call] # tqdm has no types

        def update(self, n: float | None = 1) -> None:
            nonlocal there
            there += int(n or 0)
            if progress:
                progress(min(there, total), total)

    return Meter


def _explain(file: HubFile, error: Exception) -> str:
    """One sentence for a person; never the request, whose headers may carry a token."""
    match error:
        case errors.GatedRepoError():
            return f"{file} is gated: accept its conditions on the hub, then set HF_TOKEN to a token of yours."
        case errors.RepositoryNotFoundError():
            return f"The hub has no repository {file.repo}, or it is private: check the name, or set HF_TOKEN."
        case errors.EntryNotFoundError() if not isinstance(error, errors.LocalEntryNotFoundError):
            return f"The hub's repository {file.repo} has no file {file.name}: check the name on its page."
        case errors.HfHubHTTPError():
            return f"{file} couldn't be fetched: the hub answered {error.response.status_code}; try again later."
        case errors.LocalEntryNotFoundError() | HTTPError() | ConnectionError() | TimeoutError():
            return f"{file} couldn't be fetched: the hub is not reachable from this machine."
        case errors.HFValidationError():
            return f"{file} can't be a file of the hub: write hf:OWNER/REPO/FILE.gguf."
        case OSError():
            return f"{file} couldn't be stored ({error.strerror or type(error).__name__}): is the disk full?"
        case _:
            return f"{file} couldn't be fetched ({type(error).__name__}): try again later."
