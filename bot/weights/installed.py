"""Which models lie on this machine: fetched, built, or added by their path."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from bot.package_data import checkout
from bot.weights import gguf_reader
from bot.weights.paths import home
from bot.weights.quantisation import quantisation_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bot.weights.catalogue import CatalogueEntry


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """One model's file on this machine, with the parts it may be split into. `name` is what the settings call it."""

    name: str
    path: Path
    quantisation: str
    entry: CatalogueEntry | None = None

    @property
    def size(self) -> int:
        """Bytes of all its parts."""
        return sum(part.stat().st_size for part in gguf_reader.parts(self.path) if part.is_file())


def weights_folder() -> Path:
    """Return where weights are kept: the checkout's `models`, else this user's data folder."""
    root = checkout()
    return (
        root / "models"
        if root
        else platformdirs.user_data_path("aside", appauthor=False) / "models"
    )


def added_folder(folder: Path) -> Path:
    """Return where entries that people add to the catalogue are kept, beside the weights."""
    return folder / "added"


def files_of(entry: CatalogueEntry, folder: Path) -> dict[str, Path]:
    """Return the files of an entry that are there, by quantisation; of a package or a path the one file."""
    kind, where = entry.origin
    if kind == "package":
        found = _in_package(where)
        return {quantisation_of(where): found} if found else {}
    if kind == "file":
        path = Path(where)
        return {quantisation_of(path.name): path} if path.is_file() else {}
    files = {}
    if kind == "hub":
        repo = "/".join(where.split("/")[:2])
        files = {
            quantisation_of(path.name): path
            for path in _ggufs(home(repo, folder), where[len(repo) + 1 :])
        }
    if entry.checkpoint:
        built = home(entry.checkpoint, folder).glob(f"{entry.name}-*.gguf")
        files |= {
            quantisation: path for path in built if (quantisation := quantisation_of(path.name))
        }
    return files


def stock(entries: Mapping[str, CatalogueEntry], folder: Path) -> tuple[InstalledModel, ...]:
    """Return everything that is there, the catalogue's first."""
    known = [
        InstalledModel(entry.name, path, quantisation, entry)
        for entry in entries.values()
        for quantisation, path in files_of(entry, folder).items()
    ]
    taken = {one.path for one in known}
    others = [
        InstalledModel(
            f"hf:{place.name.replace('--', '/', 1)}/{path.relative_to(place)}",
            path,
            quantisation_of(path.name),
        )
        for place in sorted(folder.glob("*--*"))
        for path in _ggufs(place)
        if path not in taken
    ]
    return (*known, *others)


def _ggufs(place: Path, name: str = "") -> Iterator[Path]:
    """Files in a repository's folder; of a split one the first part."""
    paths = [place / name] if name else sorted(place.rglob("*.gguf"))
    yield from (path for path in paths if path.is_file() and gguf_reader.parts(path)[0] == path)


def _in_package(where: str) -> Path | None:
    """The file inside an installed package, which is not imported: its own dependencies may be missing."""
    package, _, name = where.partition("/")
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (path := Path(folder) / name).is_file():
            return path
    return None
