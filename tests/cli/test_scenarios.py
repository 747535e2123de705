from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.conftest import MORNING, complaint, data, put

if TYPE_CHECKING:
    from tests.cli.conftest import Aside


def test_the_list_shows_what_can_be_played(aside: Aside) -> None:
    shown = aside("scenarios", "list")
    assert shown.exit_code == 0
    for cell in ("morning-call", "The Morning Call", "Mr Bennet"):
        assert cell in shown.stdout


def test_an_id_is_never_cut_short_since_people_type_it(aside: Aside) -> None:
    name = "a-very-long-name-for-a-scenario"
    put(f"books/{name}/scenario.yaml", MORNING)
    assert name in aside("scenarios", "list").stdout


def test_the_list_is_json_where_a_program_reads_it(aside: Aside) -> None:
    morning = next(
        one for one in data(aside("scenarios", "list", "--json")) if one["id"] == "morning-call"
    )
    assert morning["title"] == "The Morning Call"
    assert morning["characters"] == ["Mr Bennet", "Elizabeth Bennet", "Mr Darcy"]


def test_brackets_in_a_title_are_no_markup(aside: Aside) -> None:
    put("books/odd/scenario.yaml", MORNING.replace("The Morning Call", "'[red]A[/]'"))
    assert "[red]A[/]" in aside("scenarios", "list").stdout


def test_a_broken_scenario_hides_no_other_and_is_told_beside_the_list(aside: Aside) -> None:
    put("books/broken/scenario.yaml", "title: [")
    listed = aside("scenarios", "list", "--json")
    assert "morning-call" in [one["id"] for one in data(listed)]
    assert "in the library: `aside scenarios check` tells." in listed.stderr


def test_a_scenario_is_shown_with_all_its_characters_know(aside: Aside) -> None:
    shown = aside("scenarios", "show", "the morning call")
    assert shown.exit_code == 0
    for words in (
        "Jane Austen",
        "Mr Bennet (Papa)",
        "Mr Darcy (not a part for players)",
        "Motivation: He wants to be",
    ):
        assert words in shown.stdout


def test_a_scenario_is_shown_as_json_too(aside: Aside) -> None:
    assert data(aside("scenarios", "show", "morning-call", "--json"))["characters"][0][
        "aliases"
    ] == ["Papa"]


def test_a_misspelt_scenario_is_answered_with_the_nearest(aside: Aside) -> None:
    assert "morning-call" in complaint(aside("scenarios", "show", "mornign-call"))


def test_a_sound_library_has_no_faults(aside: Aside) -> None:
    checked = aside("scenarios", "check", "books")
    assert (checked.exit_code, checked.stdout, checked.stderr) == (0, "", "No faults.\n")
    assert data(aside("scenarios", "check", "books", "--json")) == {"faults": []}


def test_every_fault_is_told_with_file_and_line(aside: Aside) -> None:
    put("books/broken/scenario.yaml", MORNING.replace("title:", "titel:") + "    nose: long\n")
    checked = aside("scenarios", "check")
    assert checked.exit_code == 2
    assert "scenario.yaml, line 1" in checked.stdout
    assert "scenario.yaml, line 16" in checked.stdout
    assert checked.stderr.startswith("aside: ")
    assert checked.stderr.endswith("faults found.\n")


def test_one_file_can_be_checked_anywhere(aside: Aside) -> None:
    sound = put("elsewhere/evening.yaml", MORNING)
    assert aside("scenarios", "check", str(sound)).exit_code == 0
    broken = put("elsewhere/night.yaml", "title: 1\n")
    assert aside("scenarios", "check", str(sound), str(broken)).exit_code == 2
    assert aside("scenarios", "check", "nowhere.yaml").exit_code == 2
