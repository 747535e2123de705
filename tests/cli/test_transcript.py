"""`aside transcript` writes the story of a stored scene."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from bot.scenes.scene import Part, Place
from bot.store.store import Store
from tests.cli.conftest import complaint, data
from tests.store.conftest import NOON, a_scenario, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Aside


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with a scene of one line, and a scene without any."""

    async def create() -> None:
        async with await Store.open(tmp_path / "aside.db") as store:
            for channel in (500, 501):
                scene = await store.add_scene(
                    Place(1, channel), a_scenario(), (1,), [Part("Mr Bennet")], NOON
                )
                if channel == 500:
                    await say(store, scene)

    asyncio.run(create())
    return tmp_path / "aside.db"


def test_without_a_number_the_scenes_are_listed(aside: Aside, database: Path) -> None:
    lines = aside("transcript", "--store", str(database)).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["2", "1"]
    assert lines[0].endswith("The Morning Call · Pride and Prejudice")


@pytest.mark.usefixtures("database")
def test_the_story_is_printed_as_markdown_or_json(aside: Aside) -> None:
    assert "**Elizabeth** You sent for me, Papa?" in aside("transcript", "1").stdout
    story = data(aside("transcript", "1", "--format", "json"))
    assert story["turns"][0]["beats"] == [{"kind": "speech", "text": "You sent for me, Papa?"}]


@pytest.mark.usefixtures("database")
def test_the_suffix_of_the_file_is_its_format(aside: Aside, tmp_path: Path) -> None:
    assert aside("transcript", "1", "--output", "story.HTML").exit_code == 0
    assert (tmp_path / "story.HTML").read_text().startswith("<!doctype html>")
    assert aside("transcript", "1", "--output", "story.json").exit_code == 0
    assert json.loads((tmp_path / "story.json").read_text())["title"] == "The Morning Call"
    assert "add --format" in complaint(aside("transcript", "1", "--output", "story.doc"))
    assert "can't be written" in complaint(aside("transcript", "1", "--output", "no/story.md"))


@pytest.mark.usefixtures("database")
def test_a_scene_without_turns_or_of_another_number_is_an_error(aside: Aside) -> None:
    assert "has no turns yet" in complaint(aside("transcript", "2"))
    assert "has no scene 3" in complaint(aside("transcript", "3"))


def test_a_missing_database_is_an_error_and_stays_missing(aside: Aside, tmp_path: Path) -> None:
    assert "does not exist" in complaint(aside("transcript", "1"), status=1)
    assert not (tmp_path / "aside.db").exists()
