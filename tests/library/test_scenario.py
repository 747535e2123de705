"""Valid and invalid scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from bot.library.scenario import Scenario
from tests.library.sample_libraries import scenario

if TYPE_CHECKING:
    from collections.abc import Mapping


def read(**changes: object) -> Scenario:
    return Scenario.model_validate(scenario(id="tea", **changes))


def refusal(**changes: object) -> str:
    with pytest.raises(ValidationError) as caught:
        read(**changes)
    return str(caught.value.errors()[0].get("ctx", {}).get("error", caught.value))


def test_characters_are_looked_up_by_name() -> None:
    assert read().character("Alice").name == "Alice"
    with pytest.raises(KeyError):
        read().character("alice")


def test_whitespace_is_normalised() -> None:
    tidy = read(title="  The mad\n tea   party ", setting="\n A table.\r\n\r\nA tree. \n")
    assert tidy.title == "The mad tea party"
    assert tidy.setting == "A table.\n\nA tree."


@pytest.mark.parametrize(
    ("character", "faults"),
    [
        ({"name": "Alice: the second"}, "a name can't contain ':'"),
        ({"name": "Alice\nEnvironment"}, r"a name can't contain '\n'"),
        ({"name": "<system_thinking>"}, "a name can't contain '<'"),
        ({"name": "bob@example"}, "a name can't contain '@'"),
        ({"name": "爱丽丝：二"}, "a name can't contain '：'"),
        ({"name": "..."}, "can't be addressed"),
        ({"name": "environment"}, "is the narrator's name"),
        ({"name": "THE HATTER"}, "two characters are called THE HATTER"),
        ({"name": "Thé Hatter."}, "two characters are called Thé Hatter."),
        ({"name": "Alice", "aliases": ["the hatter"]}, "the hatter is another character's name"),
        ({"name": "Alice", "face": "../alice.png"}, "must be a file next to the scenario"),
        ({"name": "Alice", "face": "/etc/passwd"}, "must be a file next to the scenario"),
        ({"name": "Alice", "face": "..\\alice.png"}, "must be a file next to the scenario"),
        ({"name": "Alice", "face": "a\0.png"}, "must be a file next to the scenario"),
        (
            {"name": "Alice", "face": "http://example.org/a.png"},
            "must be a file next to the scenario",
        ),
        ({"name": "Alice", "face": "file:///etc/passwd"}, "must be a file next to the scenario"),
        (
            {"name": "Alice", "profile": "a\x00b"},
            "the text has the control character U+0000",
        ),
    ],
)
def test_invalid_characters_are_rejected(character: Mapping[str, object], faults: str) -> None:
    assert faults in refusal(characters=[{"name": "The Hatter"}, character])


def test_a_cue_without_a_speaker_is_rejected() -> None:
    example = {
        "cue": "Have some wine.",
        "planning": "x",
        "thought": "x",
        "action": "x",
        "speech": "x",
    }
    assert "Write `Name: words`" in refusal(characters=[{"name": "Alice", "examples": [example]}])


@pytest.mark.parametrize("name", ["Tea", "tea_party", "tea/party", "-tea", "té", "tea--party"])
def test_an_id_has_only_lower_case_letters_digits_and_hyphens(name: str) -> None:
    with pytest.raises(ValidationError, match=r"is not an id\. Use lower-case letters"):
        Scenario.model_validate(scenario(id=name))
