"""Mistakes in JSON are reported with line and fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.documents import Fault, read_json

if TYPE_CHECKING:
    from pathlib import Path


def parse(folder: Path, text: str) -> object:
    path = folder / "x.json"
    path.write_text(text, encoding="utf-8")
    return read_json(path, 1024 * 1024, 1000)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('{"a": 1,\n "a": 2}', "line 2", "the key `a` is already in line 1 of the same object"),
        ('[{"a": 1},\n {"b": {"c": 1,\n "c": 2}}]', "line 3", "the key `c` is already in line 2"),
        ('{"a{": "}\\"", "a{": 2}', "line 1", "the key `a{` is already in line 1"),
        ('{"\\u0061": 1, "a": 2}', "line 1", "the key `a` is already"),
        ("", "line 1", "the file is empty"),
        ("[1, 2,]", "line 1", "JSON allows no comma after the last entry"),
        ('{"a": 1,\n}', "line", "JSON allows no comma after the last entry"),
        ("{'a': 1}", "line 1", "JSON needs straight double quotes"),
        ("{“a”: 1}", "line 1", "JSON needs straight double quotes"),
        ("[1, // two\n 2]", "line 1", "JSON has no comments"),
        ("# scenes\n[]", "line 1", "JSON has no comments"),
        ("[None]", "line 1", "Write `null`, `true`, `false`"),
        ("{a: 1}", "line 1", "a key must be in double quotes"),
        ('[{"a": 1}', "line 1", "the file ends too early"),
        ('["a', "line 1", "the text that starts here is never closed"),
        ('{"a": "b\nc"}', "line 1", "a text has a line break or a tab"),
        ('["C:\\Users"]', "line 1", "Write `\\\\` for each `\\`"),
        ('{"a" 1}', "line 1", "a key has no `:` after it"),
        ("[1 2]", "line 1", "a comma or a closing bracket is missing"),
        ('{"a": 1}\n{"a": 2}', "line 2", "the file has more than one JSON value"),
        ("<!doctype html>", "line 1", "this is a web page, not JSON"),
        ("version https://git-lfs.github.com/spec/v1", "line 1", "only the pointer to a file"),
        ('["a",\n "\\ud83d"]', "line 2", "`\\ud83d` is half of a character"),
        ('["\\ude00"]', "line 1", "`\\ude00` is half of a character"),
        ("[NaN]", "x.json", "`NaN` is not in JSON's standard"),
        ("[-Infinity]", "x.json", "`-Infinity` is not in JSON's standard"),
        ("[" + "1," * 1001 + "1]", "x.json", "more than 1,000 values"),
        ("[" * 900 + "1", "x.json", ""),
    ],
)
def test_a_mistake_in_json_is_reported_with_line_and_fix(
    tmp_path: Path, text: str, place: str, message: str
) -> None:
    with pytest.raises(Fault) as caught:
        parse(tmp_path, text)
    sentence = str(caught.value)
    assert place in sentence
    assert message in sentence
    assert sentence.endswith(".")


def test_valid_json_is_read(tmp_path: Path) -> None:
    assert parse(tmp_path, r'["\ud83d\ude00", "\\ud83d"]') == ["😀", "\\ud83d"]
    assert parse(tmp_path, '\ufeff[{"a": 1}, {"a": [1.5, null, "x"]}]') == [
        {"a": 1},
        {"a": [1.5, None, "x"]},
    ]
