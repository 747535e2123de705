"""Marked actions in a stream of plain text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.her.inline_actions import InlineActionParser


@given(st.text(st.sampled_from("*_`\\ \nab.你"), max_size=40), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_chunks_do_not_matter(text: str, size: int) -> None:
    def joined(pieces: list[tuple[str, str]]) -> list[list[str]]:
        merged: list[list[str]] = []
        for kind, piece in pieces:
            if kind == "speech" and merged and merged[-1][0] == kind:
                merged[-1][1] += piece
            else:
                merged.append([kind, piece])
        return merged

    whole = InlineActionParser("*_")
    parts = InlineActionParser("*_")
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    fed = [piece for chunk in chunks for piece in parts.feed(chunk)]
    assert joined([*fed, *parts.close()]) == joined([*whole.feed(text), *whole.close()])
