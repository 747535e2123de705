"""Download GGUF files from the hub, with all parts of a split model."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import ModelFileError, NoSuchModel, WeightsError
from bot.weights import gguf_reader, hashes
from bot.weights.hub import Hub, require_space
from bot.weights.paths import HubFile, repository_folder
from bot.weights.quantisation import parse_quantisation

if TYPE_CHECKING:
    from bot.weights.hub import HubRepository, Progress

_FRONT = 2**17  # bytes that contain a file's type and architecture
_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$")


def choose_file(
    repository: HubRepository, quantisation: str, prefer: str = "", *, hub: Hub | None = None
) -> HubFile:
    """Return the model file with that quantisation, preferably one named like `prefer`.

    If several files have it, look at the start of each with `hub`, so that projectors, adapters,
    importance matrices, vocabularies and embedding models are never taken for the model. `fetch`
    checks a single file after the download. Raise WeightsError, with the available quantisations,
    if there is none.
    """
    hub = hub or Hub()
    ready = {name: parse_quantisation(name) for name in repository.files if name.endswith(".gguf")}
    fitting = [
        name for name, one in ready.items() if one == quantisation and not _LATER_PART.search(name)
    ]
    if fitting:
        candidates = sorted(
            fitting,
            key=lambda name: (not name.rsplit("/", 1)[-1].startswith(prefer), len(name), name),
        )
        if len(candidates) == 1:
            return HubFile(repository.name, candidates[0])
        faults = []
        for name in candidates:
            fault = _find_fault(hub, repository, name)
            if fault is None:
                return HubFile(repository.name, name)
            faults.append(f"{name} {fault}")
        raise NoSuchModel(
            f"The hub repository {repository.name} has no model with {quantisation}. "
            f"{'. '.join(faults[:3])}."
        )
    there = ", ".join(sorted({one for one in ready.values() if one}))
    raise NoSuchModel(
        f"The hub repository {repository.name} has no {quantisation}. "
        + (f"Choose one of {there}." if there else _describe_content(repository))
    )


def _find_fault(hub: Hub, repository: HubRepository, name: str) -> str | None:
    """Return why a file of the hub is not a model, or None. Downloads only its start."""
    with tempfile.TemporaryDirectory(prefix="aside-front-") as folder:
        front = Path(folder) / "front.gguf"
        front.write_bytes(hub.read(repository.name, name, size=_FRONT))
        return gguf_reader.find_fault_in_front(front)


def _describe_content(repository: HubRepository) -> str:
    if any(name.endswith(".safetensors") for name in repository.files):
        return (
            "It has safetensors instead of GGUF files. Run `aside models build "
            f"hf:{repository.name}`."
        )
    return "It has no GGUF files."


def fetch(
    file: HubFile,
    folder: Path,
    progress: Progress | None = None,
    *,
    hub: Hub | None = None,
    repository: HubRepository | None = None,
) -> Path:
    """Download `file`, with all parts of a split model, and return its path.

    llama.cpp loads the parts as they are. Blocks, and resumes an interrupted download. Raise
    WeightsError. Raise ModelFileError, and delete the download, if it is not a complete GGUF model.
    """
    hub = hub or Hub()
    repository = repository or hub.repository(file.repo)
    place = repository_folder(file.repo, folder)
    paths = gguf_reader.list_parts(place / file.name)
    listed = [repository.file(path.relative_to(place).as_posix()) for path in paths]
    total = sum(one.size for one in listed)
    before = 0
    _create_folder(folder)
    measure_download(file, folder, repository)
    for one, path in zip(listed, paths, strict=True):
        hub.fetch(repository, one, path, _shift_progress(progress, before, total))
        before += one.size
        if one.hash and one.hash.kind == "sha256":
            hashes.save_sha256(path, one.hash.value)
    _require_gguf(paths)
    return paths[0]


def measure_download(file: HubFile, folder: Path, repository: HubRepository) -> int:
    """Return how many bytes `fetch` would download. Raise WeightsError if they don't fit."""
    place = repository_folder(file.repo, folder)
    paths = gguf_reader.list_parts(place / file.name)
    listed = [repository.file(path.relative_to(place).as_posix()) for path in paths]
    there = sum(one.size for one, path in zip(listed, paths, strict=True) if path.is_file())
    missing = sum(one.size for one in listed) - there - _count_partial_bytes(paths)
    existing = next(one for one in (folder, *folder.absolute().parents) if one.is_dir())
    require_space(existing, missing, str(file))
    return missing


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WeightsError(
            f"The folder {folder} can't be created ({error.strerror or error}). Choose another one."
        ) from error


def _count_partial_bytes(paths: tuple[Path, ...]) -> int:
    """Return the bytes of interrupted downloads."""
    return sum(
        part.stat().st_size for path in paths for part in path.parent.glob(f"{path.name}.*.part")
    )


def _shift_progress(progress: Progress | None, before: int, total: int) -> Progress | None:
    return (lambda there, _: progress(before + there, total)) if progress else None


def _require_gguf(paths: tuple[Path, ...]) -> None:
    try:
        gguf_reader.check_model(paths[0])
    except ModelFileError:
        for path in paths:
            path.unlink(missing_ok=True)
            hashes.delete_sha256(path)
        raise
