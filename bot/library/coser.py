"""Scenes in the shape of CoSER's test set, a JSON list, read as scenarios."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, BeforeValidator, Field

from bot.documents import (
    Fault,
    SourcePosition,
    Tree,
    combine_faults,
    read_text,
    validate,
)
from bot.errors import ScenarioError
from bot.library.normalise import folded, normal
from bot.library.scenario import NARRATOR, Scenario

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 64 * 1024 * 1024
MAX_VALUES = 1_000_000  # of a file: a test set of 200 scenes has some thousands; each takes a hundred bytes of memory
_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_TITLE, _SUMMARY = 90, 200  # characters

Words = Annotated[
    str, BeforeValidator(lambda value: value or "")
]  # null and nothing are the same here


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
    """Return each scene of the file as a scenario, or what is wrong with it.

    Everybody who has a part, speaks, or has a profile becomes a character. Raises ScenarioError where the file as a
    whole can't be read.
    """
    try:
        found = _json(path)
    except Fault as fault:
        raise combine_faults([fault], ScenarioError) from None
    scenes = found if isinstance(found, list) else [found]
    stem = re.sub(r"[^a-z0-9]+", "-", folded(path.stem)).strip("-")[:56].strip("-") or "scene"
    ids = [f"{stem}-{number}" if len(scenes) > 1 else stem for number in range(1, len(scenes) + 1)]
    return [
        _read(scene, ids[index], f"{path}, scene {index + 1}") for index, scene in enumerate(scenes)
    ]


def _json(path: Path) -> object:
    text = read_text(path, MAX_BYTES)
    bare = _QUOTED.sub("", text)
    if sum(map(bare.count, ",[{")) > MAX_VALUES:
        raise Fault(
            SourcePosition(str(path)),
            f"more than {MAX_VALUES:,} values stand in it: this is no file of scenes",
        )
    try:
        found: object = json.loads(text)
    except json.JSONDecodeError as error:
        position = SourcePosition(str(path), error.lineno, error.colno)
        raise Fault(
            position, f"this is no JSON ({error.msg}): save the file of scenes anew"
        ) from None
    except RecursionError:
        raise Fault(
            SourcePosition(str(path)),
            "lists lie too deep inside each other: this is no file of scenes",
        ) from None
    except ValueError:
        raise Fault(
            SourcePosition(str(path)),
            "a number in it has thousands of digits: this is no file of scenes",
        ) from None
    return found


def _read(data: object, name: str, source: str) -> Scenario | ScenarioError:
    scene = validate(Tree.from_data(data, source), _Scene)
    if isinstance(scene, list):
        return combine_faults(scene, ScenarioError)
    scenario = validate(Tree.from_data(_scenario(scene, name), source), Scenario)
    return combine_faults(scenario, ScenarioError) if isinstance(scenario, list) else scenario


def _scenario(scene: _Scene, name: str) -> dict[str, object]:
    return {
        "id": name,
        "title": _shortened(scene.topic or scene.scenario, _TITLE),
        "book": _shortened(scene.book, _SUMMARY),
        "summary": _shortened(scene.plot.summary or scene.scenario, _SUMMARY),
        "background": scene.plot.summary,
        "setting": scene.scenario,
        "characters": _characters(scene),
    }


def _characters(scene: _Scene) -> list[dict[str, str]]:
    keys = {normal(key.name): key for key in scene.key_characters}
    profiles = {normal(name): profile for name, profile in scene.character_profiles.items()}
    names = [key.name for key in scene.key_characters]
    names += [*scene.speaking_characters_w_env, *scene.character_profiles]
    people: dict[str, dict[str, str]] = {}
    for name in names:
        key = keys.get(normal(name), _KeyCharacter(name=name))
        profile = profiles.get(normal(name))
        person = {
            "name": name,
            "description": key.description if profile else "",
            "profile": profile or key.description,
            "experience": key.experience,
            "motivation": key.motivation or key.thought,
        }
        people.setdefault(normal(name), person)
    people.pop(normal(NARRATOR), None)
    return list(people.values())


def _shortened(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rsplit(' ', 1)[0]}…"
