"""The headers of a model's files, those that are here and those that could be: from the file, from the hub, or from
the dimensions in the catalogue where the hub can't be asked."""

from __future__ import annotations

import importlib
import json
import queue
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.errors import UserInputError, WeightsError
from bot.weights import gguf_reader
from bot.weights.dimensions import Dimensions
from bot.weights.find_model import entry_named
from bot.weights.installed import files_of
from bot.weights.paths import HubFile, stored
from bot.weights.quantisation import QUANTISATIONS, laid_out, quantisation_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.weights.catalogue import CatalogueEntry
    from bot.weights.gguf_reader import GgufFile

PATIENCE: Final = (
    1.0  # seconds that the hub may take to answer before the catalogue's word is taken
)
_FRONT: Final = 24 * 2**20  # bytes that hold the header of any file with a vocabulary of usual size


@dataclass(frozen=True, slots=True)
class Measured:
    """A model's headers by quantisation, and where its measures come from, in words."""

    name: str
    layouts: Mapping[str, tuple[GgufFile, ...]]
    source: str


def measure(model: str, folder: Path, *, patience: float = PATIENCE) -> Measured:
    """Measure what `model` names: a path, `hf:OWNER/REPO/FILE.gguf`, `hf:OWNER/REPO` or a name of the catalogue.

    The hub may take `patience` seconds to answer for a name of the catalogue; with 0 it isn't asked.
    Loads nothing. Raises UserInputError, ModelFileError or WeightsError.
    """
    if model.startswith("hf:"):
        return _on_the_hub(model, folder)
    if (path := Path(model).expanduser()).is_file() or path.suffix == ".gguf":
        return _one(model, path, "the file's header")
    entry, quantisation = entry_named(model, folder)
    return _of_catalogue(entry, quantisation, folder, patience)


def _one(name: str, path: Path, source: str) -> Measured:
    headers = gguf_reader.check(path)
    return Measured(name, {quantisation_of(path.name) or path.stem: headers}, source)


def _on_the_hub(model: str, folder: Path) -> Measured:
    if model.endswith(".gguf"):
        file = HubFile.parse(model[3:])
        if path := stored(file, folder):
            return _one(model, path, "the file's header")
        return _far_away(file)
    repo = model[3:].strip("/")
    if repo.count("/") != 1:
        raise UserInputError(
            f"{model} names no repository of the hub: write hf:OWNER/REPO or hf:OWNER/REPO/FILE.gguf."
        )
    dimensions = _published(repo, timeout=15.0)
    layouts = laid_out(repo, dimensions, QUANTISATIONS)
    return Measured(
        model, {one: (header,) for one, header in layouts.items()}, "the hub's config.json"
    )


def _far_away(file: HubFile) -> Measured:
    """By the header of a file that is on the hub only."""
    from bot.weights.hub import Hub

    with tempfile.TemporaryDirectory(prefix="aside-front-") as place:
        headers = []
        for part in gguf_reader.parts(Path(place) / file.name):
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(Hub().read(file.repo, part.relative_to(place).as_posix(), size=_FRONT))
            headers.append(gguf_reader.read_header(part))
    return Measured(
        str(file),
        {quantisation_of(file.name) or file.name: tuple(headers)},
        "the header on the hub",
    )


def _of_catalogue(
    entry: CatalogueEntry, quantisation: str | None, folder: Path, patience: float
) -> Measured:
    here = {one: gguf_reader.check(path) for one, path in files_of(entry, folder).items()}
    if entry.checkpoint is None or (quantisation and quantisation in here):
        if not here:
            raise WeightsError(
                f"The file of {entry.name} isn't here, and the catalogue doesn't know its dimensions."
            )
        return Measured(
            entry.name,
            {one: here[one] for one in here if quantisation in (None, one)},
            "the file's header",
        )
    dimensions, source = _dimensions(entry, patience)
    wanted = (
        [quantisation]
        if quantisation
        else [one for one in QUANTISATIONS if one in entry.choices or one in here]
    )
    told = laid_out(entry.name, dimensions, wanted)
    layouts = {one: here.get(one, (header,)) for one, header in told.items()}
    return Measured(
        entry.name, layouts | {one: here[one] for one in here if not quantisation}, source
    )


def _dimensions(entry: CatalogueEntry, patience: float) -> tuple[Dimensions, str]:
    """Those published now; where they can't be had in time, those in the catalogue."""
    assert entry.checkpoint is not None  # noqa: S101 - the caller has looked
    try:
        if not patience and entry.dimensions:
            return entry.dimensions, "the catalogue"
        return _published_soon(entry.checkpoint, patience), "the hub's config.json"
    except WeightsError:
        if entry.dimensions is None:
            raise
        return entry.dimensions, "the catalogue, since the hub can't be asked"


def _published_soon(repo: str, patience: float) -> Dimensions:
    """The same, or WeightsError after so many seconds, whatever holds it up: a name server, a silent proxy."""
    answer: queue.SimpleQueue[Dimensions | WeightsError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answer.put(_published(repo, timeout=patience))
        except WeightsError as error:
            answer.put(error)

    threading.Thread(target=ask, daemon=True).start()
    deadline = time.monotonic() + patience
    # Needed next, and slow to load: it may as well be loaded meanwhile.
    importlib.import_module("bot.weights.llama_quantise")
    try:
        found = answer.get(timeout=max(0.05, deadline - time.monotonic()))
    except queue.Empty as error:
        raise WeightsError(
            f"The hub did not tell of {repo} within {patience:g} seconds."
        ) from error
    if isinstance(found, WeightsError):
        raise found
    return found


def _published(repo: str, *, timeout: float) -> Dimensions:
    from bot.weights.hub import Hub  # late: the hub's client is large

    content = Hub().read(repo, "config.json", timeout=timeout)
    try:
        return Dimensions.of_config(json.loads(content), repo)
    except ValueError as error:
        raise WeightsError(
            f"The config.json of {repo} on the hub is no JSON: it can't be measured."
        ) from error
