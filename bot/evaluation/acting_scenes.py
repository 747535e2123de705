"""Scenes of CoSER's test set, with what an evaluation needs besides the scenario."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from bot.errors import ScenarioError, UserInputError
from bot.library.coser import read_scenes
from bot.library.normalise import normalise
from bot.library.scenario import NARRATOR

if TYPE_CHECKING:
    from pathlib import Path

    from bot.library.scenario import Scenario

_Text = Annotated[str, BeforeValidator(lambda value: value or "")]  # the files have null for ""


@dataclass(frozen=True, slots=True)
class ActingScene:
    """A scene to act: its scenario, who may speak, and the book's own conversation."""

    scenario: Scenario
    speakers: tuple[str, ...]  # the first one opens the conversation; NARRATOR is among them
    major_characters: tuple[str, ...]
    plot_summary: str
    profiles: tuple[tuple[str, str], ...]  # name and profile of each speaker that has one
    reference: tuple[tuple[str, str], ...]  # speaker and text, thoughts included


class _Line(BaseModel):
    character: _Text = ""
    message: _Text = ""


class _PlotCharacter(BaseModel):
    name: _Text = ""
    description: _Text = ""


class _ActingPlot(BaseModel):
    summary: _Text = ""
    key_characters: list[_PlotCharacter] = Field(default_factory=list)


class _Item(BaseModel):
    plot: _ActingPlot = _ActingPlot()
    character_profiles: dict[str, _Text] = Field(default_factory=dict)
    speaking_characters_w_env: list[str] = Field(default_factory=list)
    major_characters: list[str] = Field(default_factory=list)
    dialogues: list[_Line] = Field(default_factory=list)


def read_acting_scenes(path: Path) -> tuple[list[ActingScene], list[ScenarioError]]:
    """Return the scenes of a file in CoSER's format, and the errors of those that cannot be used.

    Raises ScenarioError if the file cannot be read, and UserInputError if no scene can be used.
    """
    scenarios = read_scenes(path)
    data = json.loads(path.read_text(encoding="utf-8-sig"))
    items = data if isinstance(data, list) else [data]
    scenes: list[ActingScene] = []
    errors: list[ScenarioError] = []
    for scenario, item in zip(scenarios, items, strict=True):
        if isinstance(scenario, ScenarioError):
            errors.append(scenario)
            continue
        try:
            scenes.append(_build_acting_scene(scenario, item))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            errors.append(ScenarioError(f"{path}: scene {scenario.id}: {field}: {first['msg']}."))
    if not scenes:
        reason = f" {errors[0]}" if errors else ""
        raise UserInputError(f"{path} has no scene that can be acted.{reason}")
    return scenes, errors


def _build_acting_scene(scenario: Scenario, data: Any) -> ActingScene:
    item = _Item.model_validate(data)
    names = {normalise(character.name): character.name for character in scenario.characters}
    names[normalise(NARRATOR)] = NARRATOR
    listed = item.speaking_characters_w_env or [line.character for line in item.dialogues]
    speakers = _find_names(names, listed) or list(names.values())
    if NARRATOR not in speakers:
        speakers.append(NARRATOR)
    descriptions = {normalise(one.name): one.description for one in item.plot.key_characters}
    profiles: list[tuple[str, str]] = []
    for name in speakers:
        profile = _find_profile(item.character_profiles, name)
        whole = "\n\n".join(filter(None, (descriptions.get(normalise(name), "").strip(), profile)))
        if whole and name != NARRATOR:
            profiles.append((name, whole))
    return ActingScene(
        scenario=scenario,
        speakers=tuple(speakers),
        major_characters=tuple(
            name for name in _find_names(names, item.major_characters) if name != NARRATOR
        ),
        plot_summary=item.plot.summary,
        profiles=tuple(profiles),
        reference=tuple(
            (names.get(normalise(line.character), line.character), line.message)
            for line in item.dialogues
        ),
    )


def _find_names(names: dict[str, str], listed: list[str]) -> list[str]:
    found = (names.get(normalise(name)) for name in listed)
    return list(dict.fromkeys(name for name in found if name))


def _find_profile(profiles: dict[str, str], name: str) -> str:
    found = (text for key, text in profiles.items() if normalise(key) == normalise(name))
    return next(found, "").strip()
