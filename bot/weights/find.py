"""From what the settings call a model to a file on this machine."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from rapidfuzz import process

from bot.errors import ModelFileError, UnknownName
from bot.shipped import checkout
from bot.weights.catalogue import CatalogueEntry, SamplingAdvice, catalogue
from bot.weights.hub import HubFile, fetch, stored

if TYPE_CHECKING:
    from bot.weights.hub import Progress


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's file, and what is known about the model that its header doesn't say."""

    path: Path
    title: str | None = None  # None: the header's own name
    dialect: str = "her"  # "her" or "stand-in"
    stand_in: bool = False
    sampling: SamplingAdvice = field(default_factory=SamplingAdvice)
    note: str = ""


def weights_folder() -> Path:
    """Return where fetched weights are kept: the checkout's `models`, else this user's data folder."""
    root = checkout()
    return root / "models" if root else platformdirs.user_data_path("aside", appauthor=False) / "models"


def resolve(
    model: str, *, folder: Path | None = None, fetching: bool = True, progress: Progress | None = None
) -> ModelSource:
    """Return the file that `model` names: a path, `hf:OWNER/REPO/FILE.gguf`, or a name of the catalogue.

    Blocks on the network where a file must be fetched into `folder` (default: `weights_folder()`); with
    `fetching=False` it never does. The file's content isn't looked at; see `bot.weights.gguf_file.check`.
    Raises UnknownName, ModelFileError where the file isn't there, WeightsError where fetching fails.
    """
    model = model.strip()
    if model.startswith("hf:"):
        return ModelSource(_from_hub(HubFile.parse(model[3:]), folder, fetching=fetching, progress=progress))
    entries = catalogue()
    entry = next((entry for name, entry in entries.items() if name.casefold() == model.casefold()), None)
    if entry:
        return _of_catalogue(entry, folder, fetching=fetching, progress=progress)
    path = Path(model).expanduser()
    if path.is_file():
        return ModelSource(path.resolve())
    if path.suffix == ".gguf" or os.sep in model:
        raise ModelFileError(f"There is no model file {path}: check the path, or name a model of the catalogue.")
    near = [name for name, _, _ in process.extract(model, list(entries), limit=3)]
    raise UnknownName(
        f"No model is called {model!r}: write the path of a GGUF file, hf:OWNER/REPO/FILE.gguf, "
        f"or one of the catalogue's names ({', '.join(near)})."
    )


def _of_catalogue(
    entry: CatalogueEntry, folder: Path | None, *, fetching: bool, progress: Progress | None
) -> ModelSource:
    kind, _, where = entry.source.partition(":")
    if kind == "package":
        path = _in_package(where, entry)
    elif not where.endswith(".gguf"):
        raise ModelFileError(f"{entry.name} is not published as a GGUF file. {entry.note}")
    else:
        path = _from_hub(HubFile.parse(where), folder, fetching=fetching, progress=progress)
    return ModelSource(path, entry.title, entry.dialect, entry.stand_in, entry.sampling, entry.note)


def _in_package(where: str, entry: CatalogueEntry) -> Path:
    """The file inside an installed package, which is not imported: its own dependencies may be missing."""
    package, _, name = where.partition("/")
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (path := Path(folder) / name).is_file():
            return path
    raise ModelFileError(f"The model {entry.name!r} isn't installed: install Aside with its extra `try`.")


def _from_hub(file: HubFile, folder: Path | None, *, fetching: bool, progress: Progress | None) -> Path:
    folder = folder or weights_folder()
    if path := stored(file, folder):
        return path
    if not fetching:
        raise ModelFileError(f"{file} hasn't been fetched yet.")
    return fetch(file, folder, progress)
