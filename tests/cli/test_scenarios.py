from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.conftest import MORNING, complaint, data, put

if TYPE_CHECKING:
    import pytest

    from tests.cli.conftest import Aside


def test_the_list_shows_playable_scenarios(aside: Aside) -> None:
    shown = aside("scenarios", "list")
    assert shown.exit_code == 0
    for cell in ("morning-call", "The Morning Call", "Mr Bennet"):
        assert cell in shown.stdout


def test_a_long_id_is_shown_in_full(aside: Aside) -> None:
    name = "a-very-long-name-for-a-scenario"
    put(f"books/{name}/scenario.yaml", MORNING)
    assert name in aside("scenarios", "list").stdout


def test_a_foreign_variable_is_a_warning_beside_the_output(
    aside: Aside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASIDE_SERVICE_HOST", "10.0.0.1")
    listed = aside("scenarios", "list", "--json")
    assert data(listed)
    assert listed.stderr.startswith("aside: Warning: Ignored ASIDE_SERVICE_HOST.")


def test_the_list_can_be_printed_as_json(aside: Aside) -> None:
    morning = next(
        one for one in data(aside("scenarios", "list", "--json")) if one["id"] == "morning-call"
    )
    assert morning["title"] == "The Morning Call"
    assert morning["characters"] == ["Mr Bennet", "Elizabeth Bennet", "Mr Darcy"]


def test_brackets_in_a_title_are_not_markup(aside: Aside) -> None:
    put("books/odd/scenario.yaml", MORNING.replace("The Morning Call", "'[red]A[/]'"))
    assert "[red]A[/]" in aside("scenarios", "list").stdout


def test_a_broken_scenario_does_not_hide_the_others(aside: Aside) -> None:
    put("books/broken/scenario.yaml", "title: [")
    listed = aside("scenarios", "list", "--json")
    assert "morning-call" in [one["id"] for one in data(listed)]
    assert "Run `aside scenarios check`" in listed.stderr


def test_show_prints_the_secrets_of_the_characters(aside: Aside) -> None:
    shown = aside("scenarios", "show", "the morning call")
    assert shown.exit_code == 0
    for words in (
        "Jane Austen",
        "Mr Bennet (Papa)",
        "Mr Darcy (not playable)",
        "Motivation: He wants to be",
    ):
        assert words in shown.stdout


def test_a_scenario_can_be_shown_as_json(aside: Aside) -> None:
    assert data(aside("scenarios", "show", "morning-call", "--json"))["characters"][0][
        "aliases"
    ] == ["Papa"]


def test_a_misspelt_scenario_suggests_the_nearest_one(aside: Aside) -> None:
    assert "morning-call" in complaint(aside("scenarios", "show", "mornign-call"))


def test_a_valid_library_has_no_faults(aside: Aside) -> None:
    checked = aside("scenarios", "check", "books")
    assert (checked.exit_code, checked.stdout, checked.stderr) == (0, "", "No faults.\n")
    assert data(aside("scenarios", "check", "books", "--json")) == {"faults": []}


def test_every_fault_is_listed_with_file_and_line(aside: Aside) -> None:
    put("books/broken/scenario.yaml", MORNING.replace("title:", "titel:") + "    nose: long\n")
    checked = aside("scenarios", "check")
    assert checked.exit_code == 2
    assert "scenario.yaml, line 1" in checked.stdout
    assert "scenario.yaml, line 16" in checked.stdout
    assert checked.stderr.startswith("aside: ")
    assert checked.stderr.endswith("Found 3 faults.\n")


def test_the_second_of_two_equal_names_is_reported(aside: Aside) -> None:
    put("books/twins/scenario.yaml", MORNING + "  - name: mr bennet\n")
    checked = aside("scenarios", "check")
    assert "scenario.yaml, line 16" in checked.stdout
    assert "two characters are called mr bennet" in checked.stdout
    put("books/twins/scenario.yaml", MORNING.replace("[Papa]", "[Mr Darcy]"))
    assert "scenario.yaml, line 10" in aside("scenarios", "check").stdout


def test_a_file_outside_the_library_can_be_checked(aside: Aside) -> None:
    sound = put("elsewhere/evening.yaml", MORNING)
    assert aside("scenarios", "check", str(sound)).exit_code == 0
    broken = put("elsewhere/night.yaml", "title: 1\n")
    assert aside("scenarios", "check", str(sound), str(broken)).exit_code == 2
    assert aside("scenarios", "check", "nowhere.yaml").exit_code == 2
