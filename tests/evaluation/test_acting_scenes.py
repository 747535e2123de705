"""Scenes of CoSER's test set, whole and broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import UserInputError
from bot.evaluation.acting_scenes import read_acting_scenes
from bot.library.scenario import NARRATOR
from tests.evaluation.acting import ITEM, write_scenes

if TYPE_CHECKING:
    from pathlib import Path


def test_a_scene_has_its_speakers_profiles_and_reference(tmp_path: Path) -> None:
    (scene,), errors = read_acting_scenes(write_scenes(tmp_path / "set.json"))
    assert errors == []
    assert scene.speakers == ("Mr Bennet", "Elizabeth Bennet", NARRATOR)
    assert scene.major_characters == ("Mr Bennet", "Elizabeth Bennet")
    assert dict(scene.profiles)["Mr Bennet"] == "Head of the family.\n\nA sarcastic man."
    assert [speaker for speaker, _ in scene.reference] == ["Mr Bennet", "Elizabeth Bennet"]


def test_nulls_and_missing_fields_are_empty(tmp_path: Path) -> None:
    item = {
        **ITEM,
        "plot": {"summary": None, "key_characters": []},
        "character_profiles": {"Mr Bennet": None},
        "speaking_characters_w_env": [],
        "major_characters": [],
    }
    (scene,), _ = read_acting_scenes(write_scenes(tmp_path / "set.json", item))
    assert scene.plot_summary == ""
    assert scene.profiles == ()
    assert scene.speakers[0] == "Mr Bennet"


def test_a_broken_scene_is_reported_and_the_others_are_used(tmp_path: Path) -> None:
    broken = {**ITEM, "dialogues": "none"}
    scenes, errors = read_acting_scenes(write_scenes(tmp_path / "set.json", ITEM, broken))
    assert len(scenes) == 1
    assert "dialogues" in str(errors[0])


def test_a_file_without_a_usable_scene_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserInputError, match="no scene that can be acted"):
        read_acting_scenes(write_scenes(tmp_path / "set.json", {"book": "Emma"}))
