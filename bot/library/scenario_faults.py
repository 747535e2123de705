"""List all faults of scenarios, for their authors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import ScenarioError
from bot.library.pictures import square_png
from bot.library.scenario_files import (
    ScenarioFile,
    ScenarioIndex,
    find_missing_pictures,
    read_scenario_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.library.scenario import Scenario


def find_faults(path: Path) -> list[str]:
    """Return all faults at `path`, one sentence each.

    `path` is a scenario's file or folder, or a library folder.
    """
    own = next(
        (inside for name in ("scenario.yaml", "scenario.yml") if (inside := path / name).exists()),
        None,
    )
    if path.is_dir() and own is None:
        snapshot = ScenarioIndex([path]).scan()
        broken = (
            fault
            for indexed in snapshot.scenarios.values()
            for fault in _find_broken_pictures(*indexed)
        )
        return [*snapshot.faults, *broken]
    file = ScenarioFile(own.parent.parent if own else path.parent, own or path)
    return [
        fault for scenario in read_scenario_file(file) for fault in _list_faults(scenario, file)
    ]


def _list_faults(scenario: Scenario | ScenarioError, file: ScenarioFile) -> Iterator[str]:
    if isinstance(scenario, ScenarioError):
        yield from scenario.faults
        return
    yield from find_missing_pictures(scenario, file)
    yield from _find_broken_pictures(scenario, file)


def _find_broken_pictures(scenario: Scenario, file: ScenarioFile) -> Iterator[str]:
    names = dict.fromkeys(
        each.face for each in scenario.characters if each.face and "://" not in each.face
    )
    for name in names:
        try:
            path = file.picture(name)
        except ScenarioError:
            continue  # missing files are reported elsewhere
        try:
            square_png(path)
        except ScenarioError as error:
            yield str(error)
