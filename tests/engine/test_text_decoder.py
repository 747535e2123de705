"""Decoding of UTF-8, stop strings and planning, for any split of the text into chunks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.engine.text_decoder import PlanningTracker, StopStringFilter, Utf8Decoder


@given(st.text(), st.integers(1, 5))
def test_characters_stay_whole_for_any_split_of_the_bytes(text: str, size: int) -> None:
    data = text.encode()
    decoder = Utf8Decoder()
    pieces = [decoder.feed(data[start : start + size]) for start in range(0, len(data), size)]
    assert "".join(pieces) == text
    assert all("\ufffd" not in piece for piece in pieces) or "\ufffd" in text


def test_an_incomplete_character_at_the_end_is_discarded() -> None:
    decoder = Utf8Decoder()
    assert decoder.feed("她".encode()[:2]) == ""
    decoder.discard_partial()
    assert decoder.feed(b"ok") == "ok"


@given(
    st.text(alphabet="ab<|"),
    st.lists(st.text(alphabet="ab<|", min_size=1, max_size=4), max_size=3),
    st.integers(1, 4),
)
def test_a_stop_string_is_found_for_any_split_of_the_text(
    text: str, stops: list[str], size: int
) -> None:
    stops_at = StopStringFilter(tuple(stops))
    seen = ""
    for start in range(0, len(text), size):
        seen += stops_at.feed(text[start : start + size])
        if stops_at.reached:
            break
    found = [at for stop in stops if (at := text.find(stop)) >= 0]
    if stops_at.reached:
        assert found
        assert text.startswith(seen)
        assert not any(stop in seen for stop in stops)
    else:
        assert not found
        assert seen + stops_at.flush() == text


def test_the_beginning_of_a_stop_string_is_held_back_until_it_proves_harmless() -> None:
    stops = StopStringFilter(("<|im_end|>",))
    assert stops.feed("Yes.<|im") == "Yes."
    assert stops.feed("port|> done") == "<|import|> done"


def planning(prefill: str = "<system_thinking>", limit: int | None = 2) -> PlanningTracker:
    return PlanningTracker(prefill, "</system_thinking>", limit)


def test_planning_reaches_its_limit() -> None:
    block = planning()
    excess = []
    for word in ("one", " two", " three"):
        block.feed(word)
        excess.append(block.excess_tokens)
    assert excess == [0, 1, 2]


def test_closed_planning_has_no_limit() -> None:
    for closer in ("</system_thinking>", "</system_think>", "</ think >", "<role_thinking>"):
        block = planning(limit=1)
        block.feed(closer)
        block.feed("and so on")
        assert not block.excess_tokens, closer


def test_planning_is_limited_if_the_reply_opens_it_itself() -> None:
    block = planning(prefill="", limit=3)
    for piece in ("<system", "_thinking>", "hm", "hm"):
        block.feed(piece)
    assert block.excess_tokens == 2


def test_a_reply_without_planning_is_not_limited() -> None:
    block = planning(prefill="", limit=1)
    block.feed("Hello")
    block.feed(" there")
    assert not block.excess_tokens


def test_planning_may_have_no_limit() -> None:
    block = planning(limit=None)
    for _ in range(5000):
        block.feed("x")
    assert not block.excess_tokens
