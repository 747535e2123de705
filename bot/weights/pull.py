"""GGUF files out of the hub's repositories, whole, whatever they are split into."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import ModelFileError, UserInputError, WeightsError
from bot.weights import gguf_file, hashes
from bot.weights.hub import Hub, check_room
from bot.weights.quantisation import quantisation_of

if TYPE_CHECKING:
    from pathlib import Path

    from bot.weights.hub import Progress, Repository

_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$")


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


def home(repo: str, folder: Path) -> Path:
    """Return the folder that files of a repository are kept in."""
    return folder / repo.replace("/", "--")


def stored(file: HubFile, folder: Path) -> Path | None:
    """Return the path of `file` where all its parts lie in `folder` already, whole."""
    path = home(file.repo, folder) / file.name
    try:
        gguf_file.check(path)
    except ModelFileError:
        return None
    return path


def quantised(repository: Repository, quantisation: str, prefer: str = "") -> HubFile:
    """Return the file of that quantisation, of several the one whose name begins with `prefer`.

    Raises WeightsError, naming the quantisations there are.
    """
    ready = {name: quantisation_of(name) for name in repository.files if name.endswith(".gguf")}
    fitting = [name for name, one in ready.items() if one == quantisation and not _LATER_PART.search(name)]
    if fitting:
        best = min(fitting, key=lambda name: (not name.rsplit("/", 1)[-1].startswith(prefer), len(name), name))
        return HubFile(repository.name, best)
    there = ", ".join(sorted({one for one in ready.values() if one}))
    raise WeightsError(
        f"The hub's repository {repository.name} has no {quantisation}: "
        + (f"there are {there}." if there else "there is no GGUF file in it at all.")
    )


def fetch(
    file: HubFile,
    folder: Path,
    progress: Progress | None = None,
    *,
    hub: Hub | None = None,
    repository: Repository | None = None,
) -> Path:
    """Fetch `file`, with the other parts it may be split into, and return its path; llama.cpp loads parts as they are.

    Blocks; goes on where an earlier attempt was broken off. Raises WeightsError, or ModelFileError where what the hub
    has under that name is no whole GGUF: then nothing of it is kept.
    """
    hub = hub or Hub()
    repository = repository or hub.repository(file.repo)
    place = home(file.repo, folder)
    paths = gguf_file.parts(place / file.name)
    listed = [repository.file(path.relative_to(place).as_posix()) for path in paths]
    total, before = sum(one.size for one in listed), 0
    there = sum(one.size for one, path in zip(listed, paths, strict=True) if path.is_file())
    _make(folder)
    check_room(folder, total - there - _begun(paths), str(file))
    for one, path in zip(listed, paths, strict=True):
        hub.fetch(repository, one, path, _onwards(progress, before, total))
        before += one.size
        if one.hash and one.hash.kind == "sha256":
            hashes.note(path, one.hash.value)
    _refuse_what_is_none(paths)
    return paths[0]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WeightsError(f"The folder {folder} can't be made ({error.strerror or error}): choose another.") from error


def _begun(paths: tuple[Path, ...]) -> int:
    """Bytes that lie there from attempts that were broken off."""
    return sum(part.stat().st_size for path in paths for part in path.parent.glob(f"{path.name}.*.part"))


def _onwards(progress: Progress | None, before: int, total: int) -> Progress | None:
    return (lambda there, _: progress(before + there, total)) if progress else None


def _refuse_what_is_none(paths: tuple[Path, ...]) -> None:
    try:
        gguf_file.check(paths[0])
    except ModelFileError:
        for path in paths:
            path.unlink(missing_ok=True)
            hashes.forget(path)
        raise
