"""Measure a model by its header.

The header comes from a file, from the hub, or, if the hub can't be reached, from the dimensions in
the catalogue.
"""

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

from bot.errors import NoSuchModel, UserInputError, WeightsError
from bot.weights import gguf_reader
from bot.weights.dimensions import Dimensions
from bot.weights.find_model import find_entry, is_in_catalogue
from bot.weights.installed import find_files
from bot.weights.paths import HubFile, find_stored, read_model_name
from bot.weights.quantisation import QUANTISATIONS, estimate_layouts, parse_quantisation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.weights.catalogue import CatalogueEntry
    from bot.weights.gguf_reader import GgufFile

TIMEOUT: Final = 1.0  # seconds to wait for the hub before using the catalogue
_FRONT: Final = 24 * 2**20  # bytes that contain the header of a file with a usual vocabulary


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """A model's headers by quantisation, and the source of its dimensions in words."""

    name: str
    layouts: Mapping[str, tuple[GgufFile, ...]]
    source: str


def measure(model: str, folder: Path, *, patience: float = TIMEOUT) -> MeasuredModel:
    """Measure a model without loading it.

    `model` is a path, `hf:OWNER/REPO/FILE.gguf`, `hf:OWNER/REPO` or a name of the catalogue. For a
    name, wait `patience` seconds for the hub (0: don't ask it). Raise UserInputError,
    ModelFileError or WeightsError.
    """
    model = read_model_name(model)
    if model.startswith("hf:") and not is_in_catalogue(model, folder):
        return _on_the_hub(model, folder)
    if (path := Path(model).expanduser()).is_file() or path.suffix == ".gguf":
        return _one(model, path, "the file's header")
    entry, quantisation = find_entry(model, folder)
    return _measure_entry(entry, quantisation, folder, patience)


def _one(name: str, path: Path, source: str) -> MeasuredModel:
    headers = gguf_reader.check_model(path)
    return MeasuredModel(name, {parse_quantisation(path.name) or path.stem: headers}, source)


def _on_the_hub(model: str, folder: Path) -> MeasuredModel:
    if model.endswith(".gguf"):
        file = HubFile.parse(model[3:])
        if path := find_stored(file, folder):
            return _one(model, path, "the file's header")
        return _measure_on_hub(file)
    repo = model[3:].strip("/")
    if repo.count("/") != 1:
        raise UserInputError(
            f"{model} is not a hub repository. Write hf:OWNER/REPO or hf:OWNER/REPO/FILE.gguf."
        )
    dimensions = _fetch_dimensions(repo, timeout=15.0)
    layouts = estimate_layouts(repo, dimensions, QUANTISATIONS)
    return MeasuredModel(
        model, {one: (header,) for one, header in layouts.items()}, "the hub's config.json"
    )


def _measure_on_hub(file: HubFile) -> MeasuredModel:
    """Measure a file on the hub by its header."""
    from bot.weights.hub import Hub

    with tempfile.TemporaryDirectory(prefix="aside-front-") as place:
        headers = []
        for part in gguf_reader.list_parts(Path(place) / file.name):
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(Hub().read(file.repo, part.relative_to(place).as_posix(), size=_FRONT))
            headers.append(gguf_reader.read_header(part))
    return MeasuredModel(
        str(file),
        {parse_quantisation(file.name) or file.name: tuple(headers)},
        "the header on the hub",
    )


def _measure_entry(
    entry: CatalogueEntry, quantisation: str | None, folder: Path, patience: float
) -> MeasuredModel:
    here = {one: gguf_reader.check_model(path) for one, path in find_files(entry, folder).items()}
    if entry.checkpoint is None or (quantisation and quantisation in here):
        if not here:
            raise WeightsError(
                f"The file of {entry.name} is missing, and the catalogue has no dimensions "
                f"for it. Run `aside models pull {entry.name}`."
            )
        return MeasuredModel(
            entry.name,
            {one: here[one] for one in here if quantisation in (None, one)},
            "the file's header",
        )
    dimensions, source = _find_dimensions(entry, patience)
    wanted = (
        [quantisation]
        if quantisation
        else [one for one in QUANTISATIONS if one in entry.choices or one in here]
    )
    told = estimate_layouts(entry.name, dimensions, wanted)
    layouts = {one: here.get(one, (header,)) for one, header in told.items()}
    return MeasuredModel(
        entry.name, layouts | {one: here[one] for one in here if not quantisation}, source
    )


def _find_dimensions(entry: CatalogueEntry, patience: float) -> tuple[Dimensions, str]:
    """Return the published dimensions, or the catalogue's if the hub doesn't answer in time."""
    try:
        if not patience and entry.dimensions:
            return entry.dimensions, "the catalogue"
        return _fetch_dimensions_in_time(entry.checkpoints, patience), "the hub's config.json"
    except WeightsError:
        if entry.dimensions is None:
            raise
        return entry.dimensions, "the catalogue, because the hub can't be reached"


def _fetch_dimensions_in_time(repos: Sequence[str], patience: float) -> Dimensions:
    """Return the published dimensions.

    Raise WeightsError after `patience` seconds, even if DNS or a proxy hangs.
    """
    answer: queue.SimpleQueue[Dimensions | WeightsError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answer.put(_fetch_first_dimensions(repos, timeout=patience))
        except WeightsError as error:
            answer.put(error)

    threading.Thread(target=ask, daemon=True).start()
    deadline = time.monotonic() + patience
    # Needed next and slow to import, so import it while waiting.
    importlib.import_module("bot.weights.llama_quantise")
    try:
        found = answer.get(timeout=max(0.05, deadline - time.monotonic()))
    except queue.Empty as error:
        raise WeightsError(
            f"The hub did not answer for {repos[0]} within {patience:g} seconds."
        ) from error
    if isinstance(found, WeightsError):
        raise found
    return found


def _fetch_first_dimensions(repos: Sequence[str], *, timeout: float) -> Dimensions:
    """Return the dimensions in the first repository that exists."""
    for repo in repos[:-1]:
        try:
            return _fetch_dimensions(repo, timeout=timeout)
        except NoSuchModel:
            continue
    return _fetch_dimensions(repos[-1], timeout=timeout)


def _fetch_dimensions(repo: str, *, timeout: float) -> Dimensions:
    from bot.weights.hub import Hub  # late import: the hub's client is large

    content = Hub().read(repo, "config.json", timeout=timeout)
    try:
        return Dimensions.of_config(json.loads(content), repo)
    except ValueError as error:
        raise WeightsError(
            f"The config.json of {repo} on the hub is not JSON, so it can't be measured."
        ) from error
