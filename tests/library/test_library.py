"""The library finds scenarios by id and title, and a broken one never hides the others."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from bot.errors import NameNotFound, ScenarioError
from bot.library.library import Library
from bot.library.scenario_faults import find_faults
from tests.library.sample_libraries import put, put_scenes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def titles(library: Library, text: str) -> list[str]:
    return [one.title for one in library.search(text)]


def test_a_scenario_is_found_by_its_id_or_title(tmp_path: Path) -> None:
    put(tmp_path, "mad-tea-party")
    library = Library([tmp_path])
    for name in (
        "mad-tea-party",
        "Mad Tea Party",
        "The mad tea party",
        "THE MAD TEA-PARTY",
        "mad tea party",
    ):
        assert library.scenario(name).id == "mad-tea-party"


def test_a_scenarios_id_defaults_to_its_folder(tmp_path: Path) -> None:
    put(tmp_path, "tea", title="Tea")
    put(tmp_path, "whatever", title="Coffee", id="coffee")
    (tmp_path / "cocoa.yaml").write_text(put(tmp_path / "x", "y", title="Cocoa").read_text())
    assert {one.id for one in Library([tmp_path]).summaries()} == {"tea", "coffee", "cocoa"}


def test_a_folder_name_that_is_not_an_id_is_reported(tmp_path: Path) -> None:
    put(tmp_path, "Mad Tea")
    put(tmp_path, "t" * 70)
    faults = Library([tmp_path]).faults
    assert "Mad Tea/scenario.yaml: “Mad Tea” is not an id. Use lower-case letters" in faults[0]
    assert "`id` has 70 characters. Shorten it to 64" in faults[1]


def test_an_unknown_scenario_error_lists_the_nearest_names(tmp_path: Path) -> None:
    put(tmp_path, "mad-tea-party")
    put(tmp_path, "the-trial", title="Who stole the tarts?")
    library = Library([tmp_path])
    with pytest.raises(
        NameNotFound,
        match=r"There is no scenario “mad-te-party”. Nearest: mad-tea-party\.",
    ):
        library.scenario("mad-te-party")
    with pytest.raises(NameNotFound, match=r"Nearest: the-trial"):
        library.scenario("who stole the tart")
    with pytest.raises(NameNotFound, match=r"Available: mad-tea-party, the-trial\."):
        library.scenario("xyzzy")
    with pytest.raises(NameNotFound, match=r"The library is empty"):
        Library([]).scenario("xyzzy")


@pytest.mark.parametrize(
    "name", ["../mad-tea-party", "/etc/passwd", "mad-tea-party/scenario.yaml", "a\0b", "..", ""]
)
def test_names_cannot_escape_the_library_folder(tmp_path: Path, name: str) -> None:
    put(tmp_path / "inside", "mad-tea-party")
    put(tmp_path, "secret")
    with pytest.raises(NameNotFound):
        Library([tmp_path / "inside"]).scenario(name)


def test_a_link_out_of_the_library_is_not_followed(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", "secret", title="Secret")
    put(tmp_path / "inside", "mad-tea-party")
    (tmp_path / "inside" / "secret").symlink_to(outside.parent)
    (tmp_path / "inside" / "other.yaml").symlink_to(outside)
    library = Library([tmp_path / "inside"])
    assert [one.id for one in library.summaries()] == ["mad-tea-party"]
    assert len(library.faults) == 2
    assert all("leads out of" in fault for fault in library.faults)


def test_a_broken_scenario_is_reported_and_the_others_load(tmp_path: Path) -> None:
    put(tmp_path, "mad-tea-party")
    put(tmp_path, "broken", title=12, setting=None)
    (tmp_path / "torn.json").write_text("[{")
    library = Library([tmp_path, tmp_path / "nowhere"])
    assert [one.id for one in library.summaries()] == ["mad-tea-party"]
    faults = "\n".join(library.faults)
    assert "broken/scenario.yaml, line 6, column 8: `title` must be text" in faults
    assert "broken/scenario.yaml, line 1: `setting` is missing" in faults
    assert "torn.json, line 1, column 3: the file ends too early" in faults
    assert "nowhere can't be read" in faults
    with pytest.raises(ScenarioError, match="`setting` is missing"):
        library.scenario("broken")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = put(tmp_path, "tea", title="Tea")
    library = Library([tmp_path])
    assert library.scenario("tea").title == "Tea"
    put(tmp_path, "tea", title="Coffee")
    os.utime(path, ns=(1, 1))
    assert library.scenario("tea").title == "Coffee"
    path.unlink()
    assert library.summaries() == []


def test_a_users_scenario_overrides_the_shipped_one_with_its_id(tmp_path: Path) -> None:
    put(tmp_path / "mine", "tea", title="Mine")
    put(tmp_path / "shipped", "tea", title="Shipped")
    library = Library([tmp_path / "mine", tmp_path / "shipped"])
    assert library.scenario("tea").title == "Mine"
    assert library.faults == []


def test_a_duplicate_id_in_one_folder_is_reported(tmp_path: Path) -> None:
    put(tmp_path, "coffee", title="Coffee")
    put(tmp_path, "tea", title="Tea", id="coffee")
    library = Library([tmp_path])
    assert library.scenario("coffee").title == "Coffee"
    assert "tea/scenario.yaml has the same id as" in library.faults[0]


def test_search_ranks_titles_before_books_and_characters(tmp_path: Path) -> None:
    put(tmp_path, "tea", title="Tea at noon", characters=[{"name": "Zoë"}])
    put(tmp_path, "storm", title="A storm in a tea cup", book="Tempests")
    put(tmp_path, "trial", title="The trial", characters=[{"name": "Queen of Hearts"}])
    library = Library([tmp_path])
    assert titles(library, "tea") == ["Tea at noon", "A storm in a tea cup"]
    assert titles(library, "TEMPEST") == ["A storm in a tea cup"]
    assert titles(library, "zoe") == ["Tea at noon"]
    assert titles(library, "queen") == ["The trial"]
    assert titles(library, "the trail") == ["The trial"]
    assert titles(library, "xyzzy") == []
    assert titles(library, "") == ["A storm in a tea cup", "Tea at noon", "The trial"]


def test_search_returns_at_most_25_scenarios(tmp_path: Path) -> None:
    for number in range(30):
        put(tmp_path, f"tea-{number}", title=f"Tea {number}")
    library = Library([tmp_path])
    assert len(library.search("")) == 25
    assert len(library.search("tea")) == 25
    assert len(library.summaries()) == 30


def test_a_picture_is_an_address_or_a_square_png(tmp_path: Path) -> None:
    cast = [
        {"name": "A", "face": "https://example.org/a.png"},
        {"name": "B", "face": "b.jpg"},
        {"name": "C"},
    ]
    path = put(tmp_path, "tea", characters=cast)
    Image.new("RGB", (900, 700), "red").save(path.parent / "b.jpg")
    library = Library([tmp_path])
    assert library.face("tea", "A") == "https://example.org/a.png"
    picture = library.face("tea", "B")
    assert isinstance(picture, bytes)
    assert picture.startswith(b"\x89PNG")
    assert library.face("tea", "B") is picture
    assert library.face("tea", "C") is None
    assert library.face("tea", "Nobody") is None
    assert library.face("nothing", "A") is None


def test_a_broken_picture_is_logged_and_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = put(
        tmp_path, "tea", characters=[{"name": "A", "face": "a.png"}, {"name": "B", "face": "b.png"}]
    )
    (path.parent / "a.png").write_text("<html>Not found</html>")
    library = Library([tmp_path])
    assert library.scenario("tea").id == "tea"
    assert library.face("tea", "A") is None
    assert library.face("tea", "B") is None
    assert "A is shown without a picture" in caplog.text
    assert len(library.faults) == 1
    assert "the picture b.png is missing" in library.faults[0]


def test_a_picture_outside_the_folder_is_not_shown(tmp_path: Path) -> None:
    path = put(tmp_path, "tea", characters=[{"name": "A", "face": "a.png"}])
    Image.new("RGB", (9, 9)).save(tmp_path / "outside.png")
    (path.parent / "a.png").symlink_to(tmp_path / "outside.png")
    library = Library([tmp_path])
    assert library.face("tea", "A") is None
    assert "leads out of" in library.faults[0]


def test_all_find_faults_a_path_are_listed(tmp_path: Path) -> None:
    good = put(tmp_path, "good")
    assert find_faults(good) == find_faults(good.parent) == []
    bad = put(
        tmp_path, "bad", characters=[{"name": "A", "face": "a.png"}, {"name": "B", "face": "b.png"}]
    )
    (bad.parent / "a.png").write_bytes(b"no picture")
    for place in (bad, bad.parent, tmp_path):
        faults = "\n".join(find_faults(place))
        assert "a.png: this is not a complete PNG" in faults
        assert "the picture b.png is missing" in faults
    assert "none.yaml: the file does not exist" in find_faults(tmp_path / "none.yaml")[0]
    assert (
        "scene 1: `scenario` is missing"
        in find_faults(put_scenes(tmp_path / "x.json", [{"book": "B"}]))[0]
    )


class FileAccess:
    """Counts the folders listed and files opened, by Python's own audit events."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.active = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _arguments: object) -> None:
        if self.active and event in ("os.listdir", "os.scandir", "open"):
            self.events.append(event)

    @contextmanager
    def counted(self) -> Iterator[list[str]]:
        self.events = []
        self.active = True
        try:
            yield self.events
        finally:
            self.active = False


def test_the_picture_of_a_reply_costs_the_same_in_a_large_library(tmp_path: Path) -> None:
    for number in range(200):
        put(tmp_path, f"tea-{number}", characters=[{"name": "A", "face": "a.png"}])
    Image.new("RGB", (9, 9), "red").save(tmp_path / "tea-7" / "a.png")
    library = Library([tmp_path])
    picture = library.face("tea-7", "A")
    access = FileAccess()
    with access.counted() as events:
        assert library.face("tea-7", "A") == picture
        assert library.face("unknown", "A") is None
    assert events == []


def test_changed_files_are_noticed_by_the_next_reply(tmp_path: Path) -> None:
    path = put(tmp_path, "tea", characters=[{"name": "A"}])
    library = Library([tmp_path])
    assert library.face("tea", "A") is None
    put(tmp_path, "tea", characters=[{"name": "A", "face": "a.png"}])
    Image.new("RGB", (9, 9), "red").save(path.parent / "a.png")
    red = library.face("tea", "A")
    assert isinstance(red, bytes)
    Image.new("RGB", (20, 20), "blue").save(path.parent / "a.png")
    assert library.face("tea", "A") != red
    path.rename(tmp_path / "tea.yaml")
    (tmp_path / "a.png").write_bytes(red)
    assert library.face("tea", "A") == red
    (tmp_path / "tea.yaml").unlink()
    assert library.face("tea", "A") is None


def test_the_library_can_be_used_from_many_threads(tmp_path: Path) -> None:
    for number in range(10):
        put(tmp_path, f"tea-{number}", title=f"Tea {number}")
    library = Library([tmp_path])
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: len(library.search("tea")), range(40)))
    assert set(found) == {10}
