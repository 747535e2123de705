"""The guided tour fits the scenario."""

from __future__ import annotations

import pytest

from bot.library.library import Library
from bot.library.scenario import Character, Scenario
from bot.package_data import find_shipped_folder
from bot.tryout.guided_tour import GuidedTour


def test_the_tour_starts_with_the_line_in_the_readme() -> None:
    path = GuidedTour.for_scenario(
        Library([find_shipped_folder("personas")]).scenario("pride-and-prejudice")
    )
    assert path.line == "@Mr Bennet You sent for me, Papa?"
    assert path.part == "Elizabeth Bennet"
    assert path.channel == "mr-bennets-study"


def test_the_tour_uses_characters_of_the_scenario() -> None:
    library = Library([find_shipped_folder("personas")])
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
def test_the_channel_name_is_valid_on_discord(title: str, channel: str) -> None:
    people = (Character(name="Jane"), Character(name="Rochester"))
    scenario = Scenario(id="x", title=title, book="B", summary="S", setting="T", characters=people)
    assert GuidedTour.for_scenario(scenario).channel == channel
