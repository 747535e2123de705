"""List the models on this machine: downloaded, built, or added by path."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from bot.package_data import checkout
from bot.weights import gguf_reader
from bot.weights.paths import repository_folder
from bot.weights.quantisation import parse_quantisation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bot.weights.catalogue import CatalogueEntry


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """The file of a model on this machine, possibly split. `name` is its name in the settings."""

    name: str
    path: Path
    quantisation: str
    entry: CatalogueEntry | None = None

    @property
    def size(self) -> int:
        """Size of all its parts in bytes."""
        return sum(
            part.stat().st_size for part in gguf_reader.list_parts(self.path) if part.is_file()
        )


def weights_folder() -> Path:
    """Return the weights folder: `models` of the checkout, or else in the user's data folder."""
    root = checkout()
    return (
        root / "models"
        if root
        else platformdirs.user_data_path("aside", appauthor=False) / "models"
    )


def find_added_folder(folder: Path) -> Path:
    """Return the folder of the catalogue entries that users add, in the weights folder."""
    return folder / "added"


def importance_path(name: str, folder: Path) -> Path:
    """Return the place of a model's importance matrix in the weights folder."""
    return folder / "imatrix" / f"{name.replace(' ', '-')}.gguf"


def find_files(entry: CatalogueEntry, folder: Path) -> dict[str, Path]:
    """Return the installed files of an entry by quantisation."""
    kind, where = entry.origin
    if kind == "package":
        found = _find_in_package(where)
        return {parse_quantisation(where): found} if found else {}
    if kind == "file":
        path = Path(where)
        return {parse_quantisation(path.name): path} if path.is_file() else {}
    files = {}
    if kind == "hub":
        repo = "/".join(where.split("/")[:2])
        files = {
            parse_quantisation(path.name): path
            for path in _find_ggufs(repository_folder(repo, folder), where[len(repo) + 1 :])
        }
    if entry.checkpoint:
        built = repository_folder(entry.checkpoint, folder).glob(f"{entry.name}-*.gguf")
        files |= {
            quantisation: path for path in built if (quantisation := parse_quantisation(path.name))
        }
    return files


def list_installed(
    entries: Mapping[str, CatalogueEntry], folder: Path
) -> tuple[InstalledModel, ...]:
    """Return all installed models, those of the catalogue first."""
    known = [
        InstalledModel(entry.name, path, quantisation, entry)
        for entry in entries.values()
        for quantisation, path in find_files(entry, folder).items()
    ]
    taken = {one.path for one in known}
    others = [
        InstalledModel(
            f"hf:{place.name.replace('--', '/', 1)}/{path.relative_to(place)}",
            path,
            parse_quantisation(path.name),
        )
        for place in sorted(folder.glob("*--*"))
        for path in _find_ggufs(place)
        if path not in taken
    ]
    return (*known, *others)


def _find_ggufs(place: Path, name: str = "") -> Iterator[Path]:
    """Yield the GGUF files in a repository's folder. Of a split model, yield the first part."""
    paths = [place / name] if name else sorted(place.rglob("*.gguf"))
    yield from (
        path for path in paths if path.is_file() and gguf_reader.list_parts(path)[0] == path
    )


def _find_in_package(where: str) -> Path | None:
    """Return a file of an installed package without importing it, because its dependencies may be
    missing.
    """
    package, _, name = where.partition("/")
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (path := Path(folder) / name).is_file():
            return path
    return None
