"""Speaker labels at the start of a line."""

from __future__ import annotations

import pytest

from bot.her.speaker_names import LabelOwner, Speakers, normalise_name

SPEAKERS = Speakers(
    "Elizabeth Bennet", ("Mr. Bennet", "Zoë O’Neil", "R2:D2", "林黛玉", "🦊"), ("Lizzy",)
)


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("Elizabeth Bennet", LabelOwner.OWN),
        ("ELIZABETH  BENNET", LabelOwner.OWN),
        ("Elizabeth", LabelOwner.OWN),
        ("lizzy", LabelOwner.OWN),
        ("Mr Bennet", LabelOwner.OTHER),
        ("Bennet", LabelOwner.OWN),
        ("zoe o'neil", LabelOwner.OTHER),
        ("Zoë", LabelOwner.OTHER),
        ("林黛玉", LabelOwner.OTHER),
        ("🦊", LabelOwner.OTHER),
        ("Environment", LabelOwner.OTHER),
        ("旁白", LabelOwner.OTHER),
        ("Jane", LabelOwner.UNLABELLED),
        ("", LabelOwner.UNLABELLED),
    ],
)
def test_names_match_in_any_common_spelling(name: str, owner: LabelOwner) -> None:
    assert SPEAKERS.find_owner(name) is owner


def test_another_full_name_wins_over_a_part_of_the_characters_name() -> None:
    assert Speakers("Jane Bennet", ("Jane",)).find_owner("Jane") is LabelOwner.OTHER
    assert Speakers("Jane Bennet", ("Jane Eyre",)).find_owner("Jane") is LabelOwner.OWN


def test_a_title_alone_is_not_a_name() -> None:
    assert Speakers("Mr. Bennet", ("Mrs. Bennet",)).find_owner("Mrs") is LabelOwner.UNLABELLED


@pytest.mark.parametrize(
    "line",
    ["R2:D2: beep", "林黛玉：你好", "🦊: hi", "  **Zoë (aside)**: hi", "> Zoë : hi", "=== Scene"],
)
def test_labels_of_others_are_recognised(line: str) -> None:
    assert SPEAKERS.read_label(line, final=True).owner is LabelOwner.OTHER


@pytest.mark.parametrize(
    "line",
    [
        "Zoë",
        "Zoë said: hi",
        "“Zoë: hi”",
        "Zoë, you: hi",
        "http://x",
        "=====",
        ": hi",
        "Rain: it falls",
    ],
)
def test_lines_without_a_label_are_unlabelled(line: str) -> None:
    assert SPEAKERS.read_label(f"{line}\n", final=True).owner is LabelOwner.UNLABELLED


def test_names_without_letters_are_compared_as_a_whole() -> None:
    assert normalise_name(" 🦊 ") == "🦊"
    assert normalise_name("D’Arcy, Jr.") == normalise_name("darcy jr")
