"""Everything that is wrong with scenarios, for those who write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import ScenarioError
from bot.library.pictures import square_png
from bot.library.scenario_files import ScenarioFile, Shelves, missing_pictures, read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.library.scenario import Scenario


def faults_at(path: Path) -> list[str]:
    """Return what is wrong at `path`, a sentence each: a scenario's file or folder, or a folder of many."""
    own = next(
        (inside for name in ("scenario.yaml", "scenario.yml") if (inside := path / name).exists()),
        None,
    )
    if path.is_dir() and own is None:
        catalogue = Shelves([path]).catalogue()
        broken = (
            fault for held in catalogue.scenarios.values() for fault in _broken_pictures(*held)
        )
        return [*catalogue.faults, *broken]
    file = ScenarioFile(own.parent.parent if own else path.parent, own or path)
    return [fault for scenario in read(file) for fault in _faults(scenario, file)]


def _faults(scenario: Scenario | ScenarioError, file: ScenarioFile) -> Iterator[str]:
    if isinstance(scenario, ScenarioError):
        yield from scenario.faults
        return
    yield from missing_pictures(scenario, file)
    yield from _broken_pictures(scenario, file)


def _broken_pictures(scenario: Scenario, file: ScenarioFile) -> Iterator[str]:
    names = dict.fromkeys(
        each.face for each in scenario.characters if each.face and "://" not in each.face
    )
    for name in names:
        try:
            path = file.picture(name)
        except ScenarioError:
            continue  # missing, which is told elsewhere
        try:
            square_png(path)
        except ScenarioError as error:
            yield str(error)
