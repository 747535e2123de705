"""Wrong values are reported with file, line, key and fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.documents import read_document
from bot.errors import DocumentError, ScenarioError
from tests.documents.conftest import Party, complaint

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("guests: []\n", "line 1: `host` is missing. Add `host: …`"),
        (
            "host: Ada\nguests:\n  - age: 3\n",
            "line 3: `name` is missing. Add `name: …` (what the guest is called)",
        ),
        (
            "host: 12\n",
            (
                "line 1, column 7: `host` must be text, but YAML reads this as a number. "
                'Put it in quotes: "12"'
            ),
        ),
        ("host: no\n", 'reads this as true or false. Put it in quotes: "no"'),
        ("host: 1813-01-28\n", 'reads this as a date. Put it in quotes: "1813-01-28"'),
        ("host:\n", "`host` is empty. Write text or delete the line"),
        ("host: [Ada]\n", 'YAML reads this as a list. Put it in quotes: "[Ada]"'),
        ("host: {Ada}\n", 'YAML reads this as a group of keys. Put it in quotes: "{Ada}"'),
        ("host: null\n", 'YAML reads this as nothing. Put it in quotes: "null", or delete'),
        ("host: ~\n", 'Put it in quotes: "~"'),
        ("host: 1.10\n", 'Put it in quotes: "1.10"'),
        ("host:\n  - Ada\n", "`host` must be text, not a list"),
        ("host:\n  Ada: first\n", "YAML reads `Ada:` as a key. Put the text in quotes"),
        ("host: Ada\nguests:\n  name: Bob\n", "its entries have no dashes. Start each with `- `"),
        ("host: Ada\nguests:\n  - name:Bob\n", "not `name:Bob`. Put a space after the colon"),
        (
            "host: Ada\nguests: [{name: Bob, age:3}]\n",
            "the space after `age:` is missing. Write `age: …`",
        ),
        (
            "hots: Ada\nhost: Bob\n",
            "line 1, column 1: `hots` is not a known key here. Did you mean `host`?",
        ),
        (
            "host: Ada\nwhim: Bob\n",
            (
                "line 2, column 1: `whim` is not a known key here. Delete it or use one of host, "
                "guests"
            ),
        ),
        ("host: Ada\nguests:\n", "`guests` is empty. Write a list or delete the line"),
        ("host: Ada\nguests: Bob\n", "`guests` must be a list, not `Bob`"),
        ("host: Ada\nguests: [Bob]\n", "entry 1 of `guests` must be a group of keys, not `Bob`"),
        (
            "host: Ada\nguests: [{name: Bob, titles: [1]}]\n",
            "entry 1 of `titles` must be text, but YAML reads this",
        ),
        ("host: Ada\nguests: [{name: Bob, titles: }]\n", "`titles` is empty. Write a list"),
        (
            "host: Ada\nguests: [{name: Bob, titles: [a, b, c]}]\n",
            "`titles` has 3 entries. Keep at most 2",
        ),
        (
            "host: Ada\nguests: [{name: Bartholomew}]\n",
            "`name` has 11 characters. Shorten it to 10",
        ),
        ("host: Ada\nguests: [{name: ''}]\n", "`name` is empty. Write some text"),
        ("host: Ada\nguests: [{name: Bob, age: old}]\n", "`age` must be a whole number, not `old`"),
        ("host: Ada\nguests: [{name: Bob, age: 1.5}]\n", "`age` must be a whole number, not `1.5`"),
        ("host: Ada\nguests: [{name: Bob, age: -1}]\n", "`age` must be at least 0, not `-1`"),
        ("host: Ada\nguests: [{name: Bob, age: 900}]\n", "`age` must be at most 150, not `900`"),
        (
            "host: Ada\nguests: [{name: Bob, drink: milk}]\n",
            "`drink` must be `tea` or `gin`, not `milk`",
        ),
        (
            "host: Ada\nguests: [{name: Bob, seat: front}]\n",
            "`seat` must be a whole number or `any`, not `front`",
        ),
        (
            "host: Ada\nguests: [{name: Bob, weight: heavy}]\n",
            "`weight` must be a number, not `heavy`",
        ),
        (
            "host: Ada\nguests: [{name: Bob, late: maybe}]\n",
            "`late` must be true or false, not `maybe`",
        ),
        ("", "line 1: the file is empty. Write `key: value` lines"),
        ("# nothing yet\n", "the file is empty"),
        ("- Ada\n", "the file contains a list, not keys"),
        ("Ada\n", "the file contains text, not keys"),
    ],
)
def test_a_wrong_value_is_reported_with_line_key_and_fix(
    text: str, message: str, tmp_path: Path
) -> None:
    sentence = complaint(tmp_path, text)
    assert sentence.startswith("party.yaml, line ")
    assert message in sentence
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence


def test_several_faults_show_the_first_and_the_lines_of_the_others(tmp_path: Path) -> None:
    sentence = complaint(tmp_path, "host: 1\nguests:\n  - name: Bob\n    age: old\n  - nome: Eve\n")
    assert sentence == (
        "party.yaml, line 1, column 7: `host` must be text, but YAML reads this as a number. "
        'Put it in quotes: "1". (3 more faults: line 4, line 5.)'
    )


def test_an_error_lists_its_faults_separately(tmp_path: Path) -> None:
    path = tmp_path / "party.yaml"
    path.write_text("host: 1\nguests: [{name: 2}]\n")
    with pytest.raises(DocumentError) as caught:
        read_document(path, Party, DocumentError)
    assert [fault.split(": ")[1].split(" ")[0] for fault in caught.value.faults] == [
        "`host`",
        "`name`",
    ]


def test_the_caller_chooses_the_error_class(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError):
        read_document(tmp_path / "none.yaml", Party, ScenarioError)


def test_a_long_wrong_value_is_not_quoted(tmp_path: Path) -> None:
    secret = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"
    assert secret not in complaint(tmp_path, f"host: Ada\nguests: [{{name: Bob, age: {secret}}}]\n")
