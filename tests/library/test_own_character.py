from __future__ import annotations

import json

import pytest

from bot.errors import CharacterError
from bot.library.own_character import (
    OwnCharacter,
    check_character,
    dump_card,
    dump_yaml,
    read_character,
)

MARY = OwnCharacter(
    name="Mary King",
    pronouns="she/her",
    description="An heiress.\n\nShe has freckles.",
    private="She knows: Wickham wants her money.",
    voice="“Ten thousand pounds, sir.”",
    face="https://example.com/mary.png",
)
PNG = b"\x89PNG not really"


def test_yaml_brings_back_the_same_character() -> None:
    assert read_character(dump_yaml(MARY).encode(), "mary.yaml") == (MARY, None)


@pytest.mark.parametrize("picture", [None, PNG])
def test_a_card_brings_back_the_same_character_and_its_picture(picture: bytes | None) -> None:
    assert read_character(dump_card(MARY, picture).encode(), "mary.json") == (MARY, picture)


def test_a_card_has_the_fields_that_its_format_requires() -> None:
    card = json.loads(dump_card(MARY))
    assert (card["spec"], card["spec_version"]) == ("chara_card_v3", "3.0")
    data = card["data"]
    assert data["description"] == f"{MARY.description}\n\n{MARY.private}"
    assert data["mes_example"] == MARY.voice
    assert data["first_mes"] == ""
    assert data["group_only_greetings"] == []


def test_everything_in_another_programs_card_is_private() -> None:
    card = {
        "spec": "chara_card_v3",
        "spec_version": "3.0",
        "data": {
            "name": "  Mary   King ",
            "description": "An heiress.",
            "personality": "Freckled.",
            "mes_example": "Sir!",
            "tags": ["heiress"],
        },
    }
    sheet, picture = read_character(json.dumps(card).encode(), "card.json")
    assert sheet == OwnCharacter(name="Mary King", private="An heiress.\n\nFreckled.", voice="Sir!")
    assert picture is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe\x00", "is not a text file"),
        (b'{"spec": "chara_card_v2", "data": {"name": "Mary"}}', "is not a V3 character card"),
        (b"{", "is not a V3 character card"),
        (b"[" * 100_000, "file"),
        (b'{"a":' * 50_000, "is not a V3 character card"),
        (b"name: Mary\nnmae: Kitty", "is not a known key"),
        (b"description: An heiress.", "`name` is missing"),
        (b"", "is empty"),
        (b"x" * (12 * 2**20 + 1), "is larger than 12 MiB"),
    ],
)
def test_a_file_that_is_no_character_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(CharacterError, match=reason):
        read_character(content, "file")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "Mary: <b>"}, "a name can't contain ':'"),
        ({"name": "@everyone"}, "a name can't contain '@'"),
        ({"name": "environment"}, "narrator's name"),
        ({"name": "\u200b"}, "can't be addressed"),
        ({"name": "M" * 81}, "80"),
        ({"name": "Mary", "pronouns": "s" * 41}, "40"),
        ({"name": "Mary", "private": "s" * 20_001}, "20,?000"),
        ({"name": "Mary", "private": "\x00"}, "control character"),
        ({"name": "Mary", "face": "file:///etc/passwd"}, "https:// address"),
        ({"name": "Mary", "face": "mary.png"}, "https:// address"),
    ],
)
def test_fields_have_the_rules_of_a_scenarios_characters(
    fields: dict[str, object], reason: str
) -> None:
    with pytest.raises(CharacterError, match=reason):
        check_character(fields)
