"""Read scenes of CoSER's test set, a JSON list, as scenarios."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, BeforeValidator, Field

from bot.documents import (
    Fault,
    SourcePosition,
    Tree,
    combine_faults,
    read_json,
    validate,
)
from bot.errors import ScenarioError
from bot.library.normalise import fold, normalise
from bot.library.scenario import NARRATOR, Scenario

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 64 * 1024 * 1024
MAX_VALUES = 1_000_000  # a test set of 200 scenes has some thousands
_TITLE, _SUMMARY = 90, 200  # characters
_SHAPE = "Use the test set, or a list of objects with `book`, `scenario` and `key_characters`"
# Maps a scenario's keys to the keys of the file that they are made from.
_KEYS_OF_FILE = {
    "title": "topic",
    "summary": "plot.summary",
    "background": "plot.summary",
    "setting": "scenario",
    "characters": "key_characters",
    "profile": "character_profiles",
}

Words = Annotated[
    str, BeforeValidator(lambda value: value or "")
]  # null means the same as an empty text


class _KeyCharacter(BaseModel):
    name: str
    motivation: Words = ""
    thought: Words = ""
    description: Words = ""
    experience: Words = ""


class _Plot(BaseModel):
    summary: Words = ""


class _Scene(BaseModel):
    book: str
    topic: Words = ""
    scenario: str
    plot: _Plot = _Plot()
    character_profiles: dict[str, Words] = Field(default_factory=dict)
    key_characters: list[_KeyCharacter]
    speaking_characters_w_env: list[str] = Field(default_factory=list)


def read_scenes(path: Path) -> list[Scenario | ScenarioError]:
    """Return each scene of the file as a scenario, or the ScenarioError that describes its faults.

    Every character that has a part, speaks or has a profile joins the cast. Raise ScenarioError if
    the file can't be read at all.
    """
    try:
        found = read_json(path, MAX_BYTES, MAX_VALUES)
        _require_scenes(found, path)
    except Fault as fault:
        raise combine_faults([fault], ScenarioError) from None
    scenes = found if isinstance(found, list) else [found]
    stem = re.sub(r"[^a-z0-9]+", "-", fold(path.stem)).strip("-")[:56].strip("-") or "scene"
    ids = [f"{stem}-{number}" if len(scenes) > 1 else stem for number in range(1, len(scenes) + 1)]
    return [
        _read(scene, ids[index], f"{path}, scene {index + 1}") for index, scene in enumerate(scenes)
    ]


def _require_scenes(found: object, path: Path) -> None:
    """Raise Fault if the file has no scenes, for example if it is another file of CoSER's data."""
    first = found[0] if isinstance(found, list) and found else found
    problem = None
    if found == [] or found == {}:
        problem = "the file has no scenes"
    elif _is_conversation(first):
        problem = "this is a training file (conversations), not a file of scenes"
    elif isinstance(first, dict) and not {"scenario", "key_characters"} & first.keys():
        if {"plots", "character_datasets"} & first.keys():
            problem = "this is a book file of CoSER (plots and characters), not a file of scenes"
        elif {"conversation", "chapter"} <= first.keys() or "plot_summary" in first:
            problem = "this is a plot from a book file of CoSER, not a scene"
        elif {"title", "content"} <= first.keys():
            problem = "this is the text of a book, not a file of scenes"
    if problem:
        raise Fault(SourcePosition(str(path)), f"{problem}. {_SHAPE}")


def _is_conversation(data: object) -> bool:
    if isinstance(data, dict):
        inner = data.get("conversations", data.get("messages"))
        return _is_conversation(inner) or bool({"from", "value"} <= data.keys())
    return (
        isinstance(data, list)
        and bool(data)
        and isinstance(data[0], dict)
        and bool({"from", "value"} <= data[0].keys() or {"role", "content"} <= data[0].keys())
    )


def _read(data: object, name: str, source: str) -> Scenario | ScenarioError:
    position = SourcePosition(source, json=True)
    scene = validate(Tree.from_data(data, position), _Scene)
    if isinstance(scene, list):
        return combine_faults(scene, ScenarioError)
    scenario = validate(Tree.from_data(_scenario(scene, name), position), Scenario)
    if isinstance(scenario, list):
        return combine_faults([_name_keys_of_file(fault) for fault in scenario], ScenarioError)
    return scenario


def _name_keys_of_file(fault: Fault) -> Fault:
    """Return the fault with the file's keys instead of a scenario's."""
    problem = re.sub(
        r"`(\w+)`", lambda found: f"`{_KEYS_OF_FILE.get(found[1], found[1])}`", fault.problem
    )
    return Fault(fault.position, problem)


def _scenario(scene: _Scene, name: str) -> dict[str, object]:
    return {
        "id": name,
        "title": _shorten(scene.topic or scene.scenario, _TITLE),
        "book": _shorten(scene.book, _SUMMARY),
        "summary": _shorten(scene.plot.summary or scene.scenario, _SUMMARY),
        "background": scene.plot.summary,
        "setting": scene.scenario,
        "characters": _characters(scene),
    }


def _characters(scene: _Scene) -> list[dict[str, str]]:
    keys = {normalise(key.name): key for key in scene.key_characters}
    profiles = {normalise(name): profile for name, profile in scene.character_profiles.items()}
    names = [key.name for key in scene.key_characters]
    names += [*scene.speaking_characters_w_env, *scene.character_profiles]
    people: dict[str, dict[str, str]] = {}
    for name in names:
        key = keys.get(normalise(name), _KeyCharacter(name=name))
        profile = profiles.get(normalise(name))
        person = {
            "name": name,
            "description": key.description if profile else "",
            "profile": profile or key.description,
            "experience": key.experience,
            "motivation": key.motivation or key.thought,
        }
        people.setdefault(normalise(name), person)
    people.pop(normalise(NARRATOR), None)
    return list(people.values())


def _shorten(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rsplit(' ', 1)[0]}…"
