"""The journal of an evaluation survives crashes and refuses other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import UserInputError
from bot.evaluation.journal import Journal, step_key

if TYPE_CHECKING:
    from pathlib import Path


def test_a_finished_step_is_found_by_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).add("one", {"text": "Gr\u00fc\u00dfe \u2028 \U0001f600"})
    again = Journal(path)
    assert "one" in again
    assert again["one"] == {"text": "Gr\u00fc\u00dfe \u2028 \U0001f600"}
    assert "two" not in again


def test_a_line_that_a_crash_cut_is_removed_and_the_next_step_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).add("one", 1)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"key": "two", "resu')
    resumed = Journal(path)
    assert "two" not in resumed
    resumed.add("three", 3)
    final = Journal(path)
    assert ("one" in final, "two" in final, final["three"]) == (True, False, 3)


def test_another_file_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary,\nnothing happened.\n", encoding="utf-8")
    with pytest.raises(UserInputError, match="not a journal"):
        Journal(path)
    assert path.read_text(encoding="utf-8") == "Dear diary,\nnothing happened.\n"


def test_a_key_depends_on_every_input() -> None:
    assert step_key(a=1, b=2) == step_key(b=2, a=1)
    assert len({step_key(a=1), step_key(a=2), step_key(b=1)}) == 3
