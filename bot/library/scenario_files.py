"""Index the scenario files in the library's folders. A broken file never hides the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from bot.documents import read_document
from bot.errors import ScenarioError
from bot.library.coser import read_scenes
from bot.library.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FileVersion: TypeAlias = tuple[int, int]
"""Modification time in nanoseconds and size in bytes."""

IndexedScenario: TypeAlias = "tuple[Scenario, ScenarioFile]"

_YAML = (".yaml", ".yml")
_RESCAN_SECONDS = 60.0  # least time between two scans that only an unknown id asks for


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A file with one scenario, or with several in CoSER's JSON. `folder` is its library folder."""

    folder: Path
    path: Path

    @property
    def name(self) -> str:
        """Default id of its scenario: the name of its own folder, or else of the file."""
        return self.path.stem if self.path.parent == self.folder else self.path.parent.name

    def picture(self, name: str) -> Path:
        """Return the path of a picture next to the file. Raise ScenarioError if it is missing."""
        path = self.path.parent / name
        require_inside(path, self.path.parent)
        if not path.is_file():
            raise ScenarioError(
                f"{self.path}: the picture {name} is missing. Put it next to the file, or remove "
                "the `face`."
            )
        return path


@dataclass(frozen=True, slots=True)
class LibrarySnapshot:
    """The content of the folders at one moment."""

    scenarios: dict[str, IndexedScenario] = field(default_factory=dict)
    broken: dict[str, ScenarioError] = field(default_factory=dict)  # by the name of the file
    faults: list[str] = field(default_factory=list)


class ScenarioIndex:
    """The scenario files in these folders. Each is read once, and again after it has changed.

    If two folders have the same id, the earlier folder wins. Safe to use from several threads.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._lock = Lock()
        self._read: dict[Path, tuple[FileVersion, list[Scenario | ScenarioError]]] = {}
        self._latest: LibrarySnapshot | None = None
        self._scanned = 0.0

    def scan(self) -> LibrarySnapshot:
        """Look through all folders and return their content."""
        with self._lock:
            return self._scan()

    def find(self, scenario_id: str) -> IndexedScenario | None:
        """Return the scenario with that id as its file is now, or None.

        The cost is independent of the size of the library: only the scenario's own file is looked
        at. Folders are scanned again if that file has changed its id or vanished. An unknown id
        causes a scan once a minute at most.
        """
        with self._lock:
            known = self._latest.scenarios.get(scenario_id) if self._latest else None
            if known and (found := self._reread(scenario_id, known[1])):
                return found
            if known or self._latest is None or monotonic() - self._scanned > _RESCAN_SECONDS:
                return self._scan().scenarios.get(scenario_id)
            return None

    def _scan(self) -> LibrarySnapshot:
        snapshot = LibrarySnapshot()
        for folder in self._folders:
            self._add(folder, snapshot)
        self._latest = snapshot
        self._scanned = monotonic()
        return snapshot

    def _reread(self, scenario_id: str, file: ScenarioFile) -> IndexedScenario | None:
        for scenario in self._scenarios(file):
            if isinstance(scenario, Scenario) and scenario.id == scenario_id:
                return scenario, file
        return None

    def _add(self, folder: Path, snapshot: LibrarySnapshot) -> None:
        files_by_id: dict[str, ScenarioFile] = {}
        try:
            files = _list_files(folder)
        except ScenarioError as error:
            snapshot.faults.append(str(error))
            return
        for file in files:
            for scenario in self._scenarios(file):
                if isinstance(scenario, ScenarioError):
                    snapshot.faults.extend(scenario.faults)
                    snapshot.broken.setdefault(file.name, scenario)
                elif other := files_by_id.get(scenario.id):
                    snapshot.faults.append(
                        f"{file.path} has the same id as {other.path}: {scenario.id}. Change one "
                        "of them."
                    )
                else:
                    files_by_id[scenario.id] = file
                    snapshot.scenarios.setdefault(scenario.id, (scenario, file))
                    snapshot.faults.extend(find_missing_pictures(scenario, file))

    def _scenarios(self, file: ScenarioFile) -> list[Scenario | ScenarioError]:
        try:
            version = file_version(file.path)
        except OSError:
            return read_scenario_file(file)
        if (known := self._read.get(file.path)) is None or known[0] != version:
            known = self._read[file.path] = (version, read_scenario_file(file))
        return known[1]


def file_version(path: Path) -> FileVersion:
    """Return a value that changes when the file does. Raise OSError."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def read_scenario_file(file: ScenarioFile) -> list[Scenario | ScenarioError]:
    """Return the scenarios of a file. A scenario with faults is returned as its ScenarioError."""
    try:
        require_inside(file.path, file.folder)
        if file.path.suffix == ".json":
            return read_scenes(file.path)
        return [read_document(file.path, Scenario, ScenarioError, {"id": file.name})]
    except ScenarioError as error:
        return [error]


def require_inside(path: Path, folder: Path) -> None:
    """Raise ScenarioError if `path`, after following links, is not in `folder`."""
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        inside = False
    if not inside:
        raise ScenarioError(
            f"{path} leads out of {folder}. Put the file itself there instead of a link."
        )


def _list_files(folder: Path) -> list[ScenarioFile]:
    """Return the files NAME/scenario.yaml, NAME.yaml and NAME.json of a folder, in order."""
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise ScenarioError(
            f"The scenario folder {folder} can't be read ({error.strerror}). Check the path."
        ) from error
    return [ScenarioFile(folder, path) for entry in entries for path in _files_of_entry(entry)]


def _files_of_entry(entry: Path) -> Iterator[Path]:
    if entry.is_dir():
        yield from (path for suffix in _YAML if (path := entry / f"scenario{suffix}").exists())
    elif entry.suffix in (*_YAML, ".json"):
        yield entry


def find_missing_pictures(scenario: Scenario, file: ScenarioFile) -> Iterator[str]:
    """Yield a sentence for each face whose picture is missing."""
    for character in scenario.characters:
        if character.face and not character.face.startswith("https://"):
            try:
                file.picture(character.face)
            except ScenarioError as error:
                yield str(error)
