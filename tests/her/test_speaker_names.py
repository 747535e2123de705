"""Who a line belongs to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.her.label_filter import LabelFilter
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
def test_names_are_equal_as_people_write_them(name: str, owner: LabelOwner) -> None:
    assert SPEAKERS.find_owner(name) is owner


def test_another_by_full_name_comes_before_a_part_of_the_characters_own() -> None:
    assert Speakers("Jane Bennet", ("Jane",)).find_owner("Jane") is LabelOwner.OTHER
    assert Speakers("Jane Bennet", ("Jane Eyre",)).find_owner("Jane") is LabelOwner.OWN


def test_a_title_alone_names_nobody() -> None:
    assert Speakers("Mr. Bennet", ("Mrs. Bennet",)).find_owner("Mrs") is LabelOwner.UNLABELLED


@pytest.mark.parametrize(
    "line",
    ["R2:D2: beep", "林黛玉：你好", "🦊: hi", "  **Zoë (aside)**: hi", "> Zoë : hi", "=== Scene"],
)
def test_a_line_may_begin_with_anyones_label(line: str) -> None:
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
def test_other_lines_are_plain(line: str) -> None:
    assert SPEAKERS.read_label(f"{line}\n", final=True).owner is LabelOwner.UNLABELLED


@given(
    st.text(st.sampled_from("Zoë O'NeilzabthBn林*_: \n：(=🦊x\u2028"), max_size=40),
    st.integers(1, 5),
)
@settings(max_examples=200, deadline=None)
def test_lines_are_read_alike_in_any_chunks(text: str, size: int) -> None:
    whole, parts = LabelFilter(SPEAKERS), LabelFilter(SPEAKERS)
    expected = whole.feed(text) + whole.close()
    assert (
        "".join(parts.feed(text[at : at + size]) for at in range(0, len(text), size))
        + parts.close()
        == expected
    )
    assert whole.stopped == parts.stopped


def test_the_beginning_of_a_line_is_held_back_only_while_it_may_be_a_label() -> None:
    lines = LabelFilter(SPEAKERS)
    assert lines.feed("Good day.\nZo") == "Good day.\n"
    assert lines.feed("om in") == "Zoom in"


def test_markup_round_the_own_name_goes_with_it() -> None:
    for text, rest in (
        ("**Lizzy**: hi", "hi"),
        ("**Lizzy:** hi", "hi"),
        ("*Lizzy: smiles* hi", "*smiles* hi"),
    ):
        lines = LabelFilter(SPEAKERS)
        assert (lines.feed(text) + lines.close()).replace("  ", " ").replace(
            "* s", "*s"
        ).strip() == rest


def test_keys_of_names_without_letters_are_the_names() -> None:
    assert normalise_name(" 🦊 ") == "🦊"
    assert normalise_name("D’Arcy, Jr.") == normalise_name("darcy jr")
