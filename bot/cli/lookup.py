"""Find the scenario, character and dialect that a person named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bot.engine.protocol import Dialect
from bot.errors import AsideError, NameNotFound, ScenarioError, UserInputError
from bot.library.name_matching import find_nearest, map_spoken_names
from bot.library.normalise import normalise
from bot.library.scenario_files import ScenarioFile, read_scenario_file
from bot.weights.find_model import find_entry, find_model

if TYPE_CHECKING:
    from bot.engine.local.model_traits import ModelTraits
    from bot.engine.protocol import PromptFormat
    from bot.library.library import Library
    from bot.library.scenario import Scenario
    from bot.settings import Settings
    from bot.weights.catalogue import CatalogueEntry


def find_scenario(name: str, library: Library) -> Scenario:
    """Return the scenario with this id or title, or the one at this path.

    Raises NameNotFound with the nearest names, ScenarioError, or UserInputError if a file has
    several scenarios.
    """
    path = Path(name)
    if path.suffix or len(path.parts) > 1:
        return _scenario_at(path)
    try:
        return library.scenario(name)
    except NameNotFound:
        if path.is_dir():
            return _scenario_at(path)
        raise


def find_character(scenario: Scenario, name: str) -> str:
    """Return the full name of a character. Aliases and first names are accepted.

    Raises NameNotFound with the nearest names.
    """
    if character := map_spoken_names(scenario.characters).get(normalise(name)):
        return character
    names = [character.name for character in scenario.characters]
    listed = ", ".join(find_nearest(name, names) or names)
    raise NameNotFound(f"{scenario.title} has no character “{name[:80]}”. Choose one of {listed}.")


def choose_dialect(settings: Settings) -> Dialect:
    """Return the dialect of the model in the settings, or HER if the settings name no model."""
    if not settings.model_chosen:
        return Dialect.HER
    if settings.engine.dialect is not None:
        return Dialect(settings.engine.dialect)
    if entry := _find_entry(settings):
        return Dialect(entry.dialect)
    traits = _read_traits(settings)
    return traits.choose_dialect() if traits else Dialect.HER


def choose_prompt_format(settings: Settings) -> PromptFormat | None:
    """Return the prompt format of the model in the settings, or None for ChatML."""
    traits = _read_traits(settings) if settings.model_chosen else None
    return traits.choose_template() if traits else None


def choose_requirements(settings: Settings) -> str:
    """Return the Requirements section of the model in the settings, or "" for Aside's own."""
    if settings.engine.requirements is not None:
        return settings.engine.requirements
    entry = _find_entry(settings) if settings.model_chosen else None
    return entry.requirements if entry else ""


def _read_traits(settings: Settings) -> ModelTraits | None:
    """Return the traits of the local model in the settings, if its file is on this machine."""
    from bot.engine.local.model_traits import read_traits

    engine = settings.engine
    if engine.kind != "local":
        return None
    try:
        return read_traits(find_model(engine.model, folder=engine.weights, fetching=False).path)
    except AsideError:
        return None


def _find_entry(settings: Settings) -> CatalogueEntry | None:
    engine = settings.engine
    folder = engine.weights if engine.kind == "local" else None
    try:
        return find_entry(engine.model or "", folder)[0]
    except UserInputError:
        return None


def _scenario_at(path: Path) -> Scenario:
    own = next(
        (inside for name in ("scenario.yaml", "scenario.yml") if (inside := path / name).is_file()),
        None,
    )
    scenarios = read_scenario_file(
        ScenarioFile(own.parent.parent, own) if own else ScenarioFile(path.parent, path)
    )
    if len(scenarios) > 1:
        raise UserInputError(
            f"{path} has {len(scenarios)} scenarios. Move it to a folder of `library.folders` and "
            "choose one by its id."
        )
    for scenario in scenarios:
        if isinstance(scenario, ScenarioError):
            raise scenario
        return scenario
    raise UserInputError(f"{path} has no scenario. Choose another file.")
