"""Scenes of CoSER's files can be played as scenarios."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import ScenarioError
from bot.library.coser import read_scenes
from bot.library.library import Library
from bot.library.scenario import Scenario
from tests.library.sample_libraries import put_scenes

if TYPE_CHECKING:
    from pathlib import Path


def scene(**changes: object) -> dict[str, Any]:
    data: dict[str, Any] = {
        "book": "Middlemarch",
        "topic": "A quarrel over a will",
        "scenario": "Old Featherstone's bedroom at Stone Court, past midnight.",
        "plot": {"summary": "Featherstone is dying and has made two wills.", "chapter": "XXXIII"},
        "character_profiles": {"Mary Garth": "Plain, honest, unafraid.", "Fred Vincy": ""},
        "key_characters": [
            {
                "name": "Mary Garth",
                "motivation": "I will not touch his money.",
                "description": "She has sat up all night.",
            },
            {
                "name": "Peter Featherstone",
                "thought": "She must burn one.",
                "description": "An old man in bed.",
            },
        ],
        "speaking_characters_w_env": ["Mary Garth", "Peter Featherstone", "Environment"],
        "major_characters": ["Mary Garth"],
    }
    return data | changes


def read(path: Path, scenes: object) -> list[Scenario]:
    found = read_scenes(put_scenes(path, scenes))
    assert all(isinstance(one, Scenario) for one in found), found
    return [one for one in found if isinstance(one, Scenario)]


def test_a_scene_becomes_a_scenario(tmp_path: Path) -> None:
    (one,) = read(tmp_path / "Middlemarch scenes.json", [scene()])
    assert (one.id, one.title, one.book) == (
        "middlemarch-scenes",
        "A quarrel over a will",
        "Middlemarch",
    )
    assert one.setting.startswith("Old Featherstone's bedroom")
    assert one.background == one.summary == "Featherstone is dying and has made two wills."
    assert [character.name for character in one.characters] == [
        "Mary Garth",
        "Peter Featherstone",
        "Fred Vincy",
    ]
    assert one.character("Mary Garth").motivation == "I will not touch his money."
    assert one.character("Peter Featherstone").motivation == "She must burn one."


def test_a_missing_profile_falls_back_to_the_description(tmp_path: Path) -> None:
    (one,) = read(tmp_path / "x.json", scene())
    assert one.character("Mary Garth").profile == "Plain, honest, unafraid."
    assert one.character("Peter Featherstone").profile == "An old man in bed."
    assert one.character("Fred Vincy").profile == ""


def test_a_character_keeps_its_description_and_experience_beside_its_profile(
    tmp_path: Path,
) -> None:
    keys = [
        {"name": "Mary Garth", "description": "Tired.\nPale.", "experience": "A long night."},
        {"name": "Peter Featherstone", "description": "An old man.", "experience": None},
    ]
    (one,) = read(tmp_path / "x.json", scene(key_characters=keys))
    mary = one.character("Mary Garth")
    peter = one.character("Peter Featherstone")
    assert (mary.description, mary.profile, mary.experience) == (
        "Tired. Pale.",
        "Plain, honest, unafraid.",
        "A long night.",
    )
    assert (peter.description, peter.profile, peter.experience) == ("", "An old man.", "")


def test_each_scene_of_a_list_has_its_own_id_and_can_be_played(tmp_path: Path) -> None:
    put_scenes(
        tmp_path / "test-set.json",
        [scene(), scene(topic="Another"), scene(topic=None, plot={"summary": None})],
    )
    library = Library([tmp_path])
    assert library.scenario("test-set-2").title == "Another"
    assert library.scenario("test-set-3").title.startswith("Old Featherstone's bedroom")
    assert library.faults == []


def test_a_broken_scene_is_reported_by_number_and_the_others_load(tmp_path: Path) -> None:
    broken = scene(key_characters=[{"nom": "x"}])
    found = read_scenes(
        put_scenes(
            tmp_path / "x.json",
            [
                scene(),
                broken,
                "text",
                scene(key_characters=[], character_profiles={}, speaking_characters_w_env=[]),
            ],
        )
    )
    assert isinstance(found[0], Scenario)
    faults = [str(one) for one in found[1:]]
    assert "x.json, scene 2: `name` is missing" in faults[0]
    assert "x.json, scene 3: this must be an object with keys, not text" in faults[1]
    assert "x.json, scene 4: `key_characters` has too few entries" in faults[2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([[{"from": "system", "value": "You are Peter."}]], "a training file"),
        ([{"conversations": [{"from": "human", "value": "Hello"}]}], "a training file"),
        ([{"messages": [{"role": "user", "content": "Hello"}]}], "a training file"),
        ({"book": "B", "plots": [], "character_datasets": {}}, "a book file of CoSER"),
        ([{"book": "B", "plots": []}], "a book file of CoSER"),
        ([{"chapter": "1", "conversation": [], "summary": "S"}], "a plot from a book file"),
        ([{"title": "B", "author": "A", "content": "Text"}], "the text of a book"),
        ([], "the file has no scenes"),
    ],
)
def test_another_file_of_coser_is_recognised(tmp_path: Path, content: object, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ScenarioError, match=message) as caught:
        read_scenes(path)
    assert "`key_characters`" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"book": 12}, "`book` must be text, not a number. Put it in double quotes"),
        ({"book": None}, "`book` must be text, not null"),
        ({"scenario": ""}, "`scenario` is empty"),
        ({"scenario": "x" * 30_000}, "`scenario` has 30000 characters"),
        ({"key_characters": {"name": "Jo"}}, "`key_characters` must be a list"),
        ({"character_profiles": {"Jo": "x" * 30_000}}, "`character_profiles` has 30000"),
        (
            {"key_characters": [{"name": f"Jo {number}"} for number in range(50)]},
            "`key_characters` has 5",
        ),
    ],
)
def test_a_fault_names_the_keys_of_the_file(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([scene(**changes)]), encoding="utf-8")
    (error,) = read_scenes(path)
    assert isinstance(error, ScenarioError)
    assert "x.json, scene 1: " in str(error)
    assert message in str(error)
    assert "YAML" not in str(error)
    assert "line out" not in str(error)


def test_a_key_twice_in_one_object_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"book": "A",\n "scenario": "S",\n "book": "B"}]', encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"line 3, .*the key `book` is already in line 1"):
        read_scenes(path)


def test_long_titles_and_summaries_are_shortened(tmp_path: Path) -> None:
    (one,) = read(tmp_path / "x.json", [scene(plot={"summary": "word " * 200})])
    assert len(one.summary) <= 200
    assert one.summary.endswith("word…")
    assert len(one.background) > 900


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"book": }'])
def test_invalid_json_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ScenarioError, match=r"x\.json"):
        read_scenes(tmp_path / "x.json")
