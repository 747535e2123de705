"""The files of a library's folders, and what each says. Broken ones never hide the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from bot.documents import read_document
from bot.errors import ScenarioError
from bot.library.coser import read_scenes
from bot.library.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Stamp: TypeAlias = tuple[int, int]
"""Changes when a file does."""

_YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A file with one scenario, or in CoSER's JSON with several. `folder` is the library's that it lies in."""

    folder: Path
    path: Path

    @property
    def name(self) -> str:
        """The id of a scenario that names none: the name of its own folder, or of a file without one."""
        return self.path.stem if self.path.parent == self.folder else self.path.parent.name

    def picture(self, name: str) -> Path:
        """Return the path of a picture beside the file. Raises ScenarioError where there is none."""
        path = self.path.parent / name
        refuse_outside(path, self.path.parent)
        if not path.is_file():
            raise ScenarioError(
                f"{self.path}: there is no picture {name} beside it: add it, or take the `face` out."
            )
        return path


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What the folders hold at one moment."""

    scenarios: dict[str, tuple[Scenario, ScenarioFile]] = field(default_factory=dict)
    broken: dict[str, ScenarioError] = field(default_factory=dict)  # by the name of the file
    faults: list[str] = field(default_factory=list)


class Shelves:
    """The scenario files of these folders, each read once and again where it has changed.

    Where two folders have the same id, the earlier folder's counts. May be used from several threads at once.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._lock = Lock()
        self._read: dict[Path, tuple[Stamp, list[Scenario | ScenarioError]]] = {}

    def catalogue(self) -> Catalogue:
        """Return what the folders hold now."""
        catalogue = Catalogue()
        with self._lock:
            for folder in self._folders:
                self._add(folder, catalogue)
        return catalogue

    def _add(self, folder: Path, catalogue: Catalogue) -> None:
        here: dict[str, ScenarioFile] = {}
        try:
            found = _files(folder)
        except ScenarioError as error:
            catalogue.faults.append(str(error))
            return
        for file in found:
            for scenario in self._scenarios(file):
                if isinstance(scenario, ScenarioError):
                    catalogue.faults.extend(scenario.faults)
                    catalogue.broken.setdefault(file.name, scenario)
                elif other := here.get(scenario.id):
                    catalogue.faults.append(
                        f"{file.path} has the id of {other.path}, {scenario.id}: give it another."
                    )
                else:
                    here[scenario.id] = file
                    catalogue.scenarios.setdefault(scenario.id, (scenario, file))
                    catalogue.faults.extend(missing_pictures(scenario, file))

    def _scenarios(self, file: ScenarioFile) -> list[Scenario | ScenarioError]:
        try:
            now = stamp(file.path)
        except OSError:
            return read(file)
        if (known := self._read.get(file.path)) is None or known[0] != now:
            known = self._read[file.path] = (now, read(file))
        return known[1]


def stamp(path: Path) -> Stamp:
    """Return the file's stamp. Raises OSError."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def read(file: ScenarioFile) -> list[Scenario | ScenarioError]:
    """Return the scenarios of a file, or what is wrong with them."""
    try:
        refuse_outside(file.path, file.folder)
        if file.path.suffix == ".json":
            return read_scenes(file.path)
        return [read_document(file.path, Scenario, ScenarioError, {"id": file.name})]
    except ScenarioError as error:
        return [error]


def refuse_outside(path: Path, folder: Path) -> None:
    """Raise ScenarioError where `path`, links followed, doesn't lie in `folder`."""
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        inside = False
    if not inside:
        raise ScenarioError(
            f"{path} leads out of {folder}: put the file itself there, and no link."
        )


def _files(folder: Path) -> list[ScenarioFile]:
    """The scenario files of a folder: NAME/scenario.yaml, NAME.yaml, and NAME.json, in order."""
    try:
        found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise ScenarioError(
            f"{folder}: no scenarios can be read there ({error.strerror}): check the path."
        ) from error
    return [ScenarioFile(folder, path) for place in found for path in _scenario_files(place)]


def _scenario_files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from (path for suffix in _YAML if (path := place / f"scenario{suffix}").exists())
    elif place.suffix in (*_YAML, ".json"):
        yield place


def missing_pictures(scenario: Scenario, file: ScenarioFile) -> Iterator[str]:
    """Yield a sentence for each face that names no picture beside the file."""
    for character in scenario.characters:
        if character.face and not character.face.startswith("https://"):
            try:
                file.picture(character.face)
            except ScenarioError as error:
                yield str(error)
