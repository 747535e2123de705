"""Characters, stop strings and planning, however the text is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.engine.text_decoder import Characters, PlanningTracker, Stops


@given(st.text(), st.integers(1, 5))
def test_characters_come_out_whole_however_the_bytes_are_cut(text: str, size: int) -> None:
    data = text.encode()
    characters = Characters()
    pieces = [characters.feed(data[start : start + size]) for start in range(0, len(data), size)]
    assert "".join(pieces) == text
    assert all("\ufffd" not in piece for piece in pieces) or "\ufffd" in text


def test_half_a_character_at_the_end_never_shows() -> None:
    characters = Characters()
    assert characters.feed("她".encode()[:2]) == ""
    characters.drop_half()
    assert characters.feed(b"ok") == "ok"


@given(
    st.text(alphabet="ab<|"),
    st.lists(st.text(alphabet="ab<|", min_size=1, max_size=4), max_size=3),
    st.integers(1, 4),
)
def test_a_stop_string_is_found_however_the_text_is_cut(
    text: str, stops: list[str], size: int
) -> None:
    filter_ = Stops(tuple(stops))
    seen = ""
    for start in range(0, len(text), size):
        seen += filter_.feed(text[start : start + size])
        if filter_.reached:
            break
    found = [at for stop in stops if (at := text.find(stop)) >= 0]
    if filter_.reached:
        assert found
        assert text.startswith(seen)
        assert not any(stop in seen for stop in stops)
    else:
        assert not found
        assert seen + filter_.flush() == text


def test_text_that_may_become_a_stop_string_waits_and_comes_when_it_does_not() -> None:
    stops = Stops(("<|im_end|>",))
    assert stops.feed("Yes.<|im") == "Yes."
    assert stops.feed("port|> done") == "<|import|> done"


def planning(prefill: str = "<system_thinking>", limit: int | None = 2) -> PlanningTracker:
    return PlanningTracker(prefill, "</system_thinking>", limit)


def test_planning_reaches_its_limit() -> None:
    block = planning()
    too_many = []
    for word in ("one", " two", " three"):
        block.feed(word)
        too_many.append(block.tokens_too_many)
    assert too_many == [0, 1, 2]


def test_planning_that_was_closed_has_no_limit() -> None:
    for closer in ("</system_thinking>", "</system_think>", "</ think >", "<role_thinking>"):
        block = planning(limit=1)
        block.feed(closer)
        block.feed("and so on")
        assert not block.tokens_too_many, closer


def test_a_reply_that_opens_its_planning_itself_is_watched_too() -> None:
    block = planning(prefill="", limit=3)
    for piece in ("<system", "_thinking>", "hm", "hm"):
        block.feed(piece)
    assert block.tokens_too_many == 2


def test_a_reply_that_does_not_plan_is_never_watched() -> None:
    block = planning(prefill="", limit=1)
    block.feed("Hello")
    block.feed(" there")
    assert not block.tokens_too_many


def test_planning_without_a_limit_is_never_closed() -> None:
    block = planning(limit=None)
    for _ in range(5000):
        block.feed("x")
    assert not block.tokens_too_many
