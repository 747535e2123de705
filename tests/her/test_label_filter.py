"""Speaker labels are filtered out of public text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.her.label_filter import FilteredText, LabelFilter
from bot.her.speaker_names import Speakers

SPEAKERS = Speakers(
    "Elizabeth Bennet", ("Mr. Bennet", "Zoë O’Neil", "R2:D2", "林黛玉", "🦊"), ("Lizzy",)
)


def join(pieces: list[FilteredText]) -> str:
    return "".join(text for text, _ in pieces)


@given(
    st.text(st.sampled_from("Zoë O'NeilzabthBn林*_: \n：(=🦊x\u2028"), max_size=40),
    st.integers(1, 5),
)
@settings(max_examples=200, deadline=None)
def test_chunks_do_not_matter(text: str, size: int) -> None:
    whole = LabelFilter(SPEAKERS)
    parts = LabelFilter(SPEAKERS)
    expected = join(whole.feed(text) + whole.close())
    assert (
        "".join(join(parts.feed(text[at : at + size])) for at in range(0, len(text), size))
        + join(parts.close())
        == expected
    )
    assert whole.stopped == parts.stopped


def test_the_start_of_a_line_is_held_back_only_while_it_may_be_a_label() -> None:
    lines = LabelFilter(SPEAKERS)
    assert join(lines.feed("Good day.\nZo")) == "Good day.\n"
    assert join(lines.feed("om in")) == "Zoom in"


def test_markup_around_the_own_name_is_removed_with_it() -> None:
    for text, rest in (
        ("**Lizzy**: hi", "hi"),
        ("**Lizzy:** hi", "hi"),
        ("*Lizzy: smiles* hi", "*smiles* hi"),
    ):
        lines = LabelFilter(SPEAKERS)
        assert (
            join(lines.feed(text) + lines.close()).replace("  ", " ").replace("* s", "*s").strip()
            == rest
        )
