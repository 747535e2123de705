"""The shipped scenarios are complete, playable, and have secrets and distinct faces."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageChops, ImageStat

from bot.library.library import Library
from bot.library.name_matching import map_spoken_names
from bot.library.scenario_faults import find_faults
from bot.package_data import find_shipped_folder

if TYPE_CHECKING:
    from bot.library.scenario import Character, Scenario

FOLDER = find_shipped_folder("personas")
SCENARIOS = [Library([FOLDER]).scenario(one.id) for one in Library([FOLDER]).summaries()]
CHARACTERS = [pytest.param(one, each, id=each.name) for one in SCENARIOS for each in one.characters]


def test_the_shipped_library_has_no_faults() -> None:
    assert find_faults(FOLDER) == []
    assert {one.id for one in SCENARIOS} >= {
        "pride-and-prejudice",
        "the-great-gatsby",
        "treasure-island",
    }


def test_only_scenarios_and_pictures_ship() -> None:
    assert {path.suffix for path in FOLDER.rglob("*") if path.is_file()} == {".yaml", ".png"}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.id)
def test_a_shipped_scenario_has_setting_and_opening(scenario: Scenario) -> None:
    assert scenario.author
    assert 300 <= len(scenario.background) <= 1500
    assert 300 <= len(scenario.setting) <= 1500
    assert 200 <= len(scenario.opening) <= 900
    assert len(scenario.characters) >= 3
    assert "\n" not in scenario.summary
    assert all(
        1 not in map(len, text.split("\n\n")) for text in (scenario.background, scenario.opening)
    )


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.id)
def test_names_in_a_cast_are_unambiguous(scenario: Scenario) -> None:
    spoken = map_spoken_names(scenario.characters)
    for character in scenario.characters:
        for name in (character.name, *character.aliases):
            assert spoken[name.lower()] == character.name


@pytest.mark.parametrize(("scenario", "character"), CHARACTERS)
def test_a_shipped_character_can_be_played(scenario: Scenario, character: Character) -> None:
    assert 120 <= len(character.profile.split()) <= 300
    assert 80 <= len(character.motivation.split()) <= 200
    assert 10 <= len(character.known_as.split()) <= 60
    assert character.aliases
    names = {other.name for other in scenario.characters} - {character.name}
    assert {example.cue.partition(":")[0] for example in character.examples} <= names


@pytest.mark.parametrize(("scenario", "character"), CHARACTERS)
def test_secrets_are_absent_from_what_others_know(scenario: Scenario, character: Character) -> None:
    shared = [
        scenario.background,
        scenario.setting,
        scenario.opening,
        *(each.known_as for each in scenario.characters),
    ]
    sentences = re.split(r"(?<=[.!?])\s+", character.motivation)
    assert not [sentence for sentence in sentences if any(sentence in text for text in shared)]


@pytest.mark.parametrize(("scenario", "character"), CHARACTERS)
def test_examples_suit_a_small_model(scenario: Scenario, character: Character) -> None:
    assert len(character.examples) == 2, scenario.id
    for example in character.examples:
        for words in (
            example.cue.partition(":")[2],
            example.planning,
            example.thought,
            example.action,
            example.speech,
        ):
            assert not re.search(r"[:\[\](){}<>*_\n]", words)
            assert 2 <= len(words.split()) <= 40
        assert re.fullmatch(r"[a-z][^.!?]*", example.action)
        assert len(re.findall(r"[.!?]", example.planning)) == 1


def face(scenario: Scenario, character: Character) -> Image.Image:
    assert character.face
    with Image.open(FOLDER / scenario.id / character.face, formats=["PNG"]) as picture:
        return picture.convert("RGB")


@pytest.mark.parametrize(("scenario", "character"), CHARACTERS)
def test_a_shipped_face_is_a_square_picture(scenario: Scenario, character: Character) -> None:
    assert face(scenario, character).size == (256, 256)
    assert isinstance(Library([FOLDER]).face(scenario.id, character.name), bytes)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.id)
def test_faces_can_be_told_apart_at_discords_size(scenario: Scenario) -> None:
    small = {each.name: face(scenario, each).resize((40, 40)) for each in scenario.characters}
    for (one, first), (other, second) in combinations(small.items(), 2):
        difference = ImageStat.Stat(ImageChops.difference(first, second)).mean
        assert sum(difference) > 60, (one, other)


def test_texts_have_no_trailing_or_doubled_spaces() -> None:
    for path in FOLDER.rglob("*.yaml"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert line == line.rstrip(), (path, number)
            assert "  " not in line.strip(), (path, number)
