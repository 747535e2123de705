"""GGUF files out of the hub's repositories, whole, whatever they are split into."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.errors import ModelFileError, WeightsError
from bot.weights import gguf_reader, hashes
from bot.weights.hub import Hub, check_room
from bot.weights.paths import HubFile, home
from bot.weights.quantisation import quantisation_of

if TYPE_CHECKING:
    from pathlib import Path

    from bot.weights.hub import HubRepository, Progress

_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$")


def quantised(repository: HubRepository, quantisation: str, prefer: str = "") -> HubFile:
    """Return the file of that quantisation, of several the one whose name begins with `prefer`.

    Raises WeightsError, naming the quantisations there are.
    """
    ready = {name: quantisation_of(name) for name in repository.files if name.endswith(".gguf")}
    fitting = [
        name for name, one in ready.items() if one == quantisation and not _LATER_PART.search(name)
    ]
    if fitting:
        best = min(
            fitting,
            key=lambda name: (not name.rsplit("/", 1)[-1].startswith(prefer), len(name), name),
        )
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
    repository: HubRepository | None = None,
) -> Path:
    """Fetch `file`, with the other parts it may be split into, and return its path; llama.cpp loads parts as they are.

    Blocks; goes on where an earlier attempt was broken off. Raises WeightsError, or ModelFileError where what the hub
    has under that name is no whole GGUF: then nothing of it is kept.
    """
    hub = hub or Hub()
    repository = repository or hub.repository(file.repo)
    place = home(file.repo, folder)
    paths = gguf_reader.parts(place / file.name)
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
        raise WeightsError(
            f"The folder {folder} can't be made ({error.strerror or error}): choose another."
        ) from error


def _begun(paths: tuple[Path, ...]) -> int:
    """Bytes that lie there from attempts that were broken off."""
    return sum(
        part.stat().st_size for path in paths for part in path.parent.glob(f"{path.name}.*.part")
    )


def _onwards(progress: Progress | None, before: int, total: int) -> Progress | None:
    return (lambda there, _: progress(before + there, total)) if progress else None


def _refuse_what_is_none(paths: tuple[Path, ...]) -> None:
    try:
        gguf_reader.check(paths[0])
    except ModelFileError:
        for path in paths:
            path.unlink(missing_ok=True)
            hashes.forget(path)
        raise
