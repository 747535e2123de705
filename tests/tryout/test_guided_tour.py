"""The guided path fits the scenario."""

from __future__ import annotations

import pytest

from bot.library.library import Library
from bot.library.scenario import Character, Scenario
from bot.package_data import shipped_folder
from bot.tryout.guided_tour import GuidedTour


def test_it_begins_with_the_line_that_the_readme_shows() -> None:
    path = GuidedTour.for_scenario(
        Library([shipped_folder("personas")]).scenario("pride-and-prejudice")
    )
    assert path.line == "@Mr Bennet You sent for me, Papa?"
    assert path.part == "Elizabeth Bennet"
    assert path.channel == "mr-bennets-study"


def test_its_people_are_in_the_scene() -> None:
    library = Library([shipped_folder("personas")])
    for summary in library.summaries():
        path = GuidedTour.for_scenario(library.scenario(summary.id))
        assert path.part in summary.characters
        assert any(path.line.startswith(f"@{name} ") for name in summary.characters)


@pytest.mark.parametrize(
    ("title", "channel"),
    [
        ("The sign of the Spy-glass", "the-sign-of-the-spy-glass"),
        ("红楼梦", "红楼梦"),
        ("…", "stage"),
        ("a" * 200, "a" * 100),
    ],
)
def test_its_channel_is_called_as_discord_calls_channels(title: str, channel: str) -> None:
    people = (Character(name="Jane"), Character(name="Rochester"))
    scenario = Scenario(id="x", title=title, book="B", summary="S", setting="T", characters=people)
    assert GuidedTour.for_scenario(scenario).channel == channel
