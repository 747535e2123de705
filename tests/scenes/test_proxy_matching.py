"""Which line a proxy bot's post belongs to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.scenes.proxy_matching import (
    MAX_TAGS,
    WINDOW,
    Content,
    RecentLine,
    RecentLines,
    find_original,
    normalise_space,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
WORDS = st.text(min_size=1, max_size=60).filter(lambda text: text.strip())
TAG = st.text(max_size=MAX_TAGS // 2 - 1)


def a_line(message_id: int, text: str, *files: str, author: int = 1) -> RecentLine:
    return RecentLine(message_id, author, Content(text, files), NOON)


def find(lines: list[RecentLine], text: str, *files: str, later: float = 1.0) -> int | None:
    """Return the message that the post belongs to."""
    moment = NOON + timedelta(seconds=later)
    found = find_original(lines, Content(text, files), moment, frozenset())
    return found.message_id if found else None


@given(prefix=TAG, words=WORDS, suffix=TAG)
def test_a_post_belongs_to_the_line_with_its_tags(prefix: str, words: str, suffix: str) -> None:
    line = a_line(1, f"{prefix}{words}{suffix}")
    posted = normalise_space(words)
    if posted in normalise_space(line.content.text):
        assert find([line], words.strip()) == 1


@given(words=WORDS)
def test_other_words_belong_to_no_line(words: str) -> None:
    assert find([a_line(1, f"L: {words}")], f"{words} and more") is None


def test_the_line_with_the_shortest_tags_is_chosen() -> None:
    lines = [a_line(1, "Yes, I saw him.", author=2), a_line(2, "L: Yes"), a_line(3, "L: Yes")]
    assert find(lines, "Yes") == 2


def test_an_old_line_or_a_longer_one_is_not_meant() -> None:
    assert find([a_line(1, "L: Yes")], "Yes", later=WINDOW.total_seconds() + 1) is None
    assert find([a_line(1, "Yes " + "x" * (MAX_TAGS + 1))], "Yes") is None


def test_files_belong_to_the_line_that_has_them() -> None:
    lines = [a_line(1, "L:", "cat.png"), a_line(2, "L:", "dog.png"), a_line(3, "L:")]
    assert find(lines, "", "dog.png") == 2
    assert find(lines, "") is None


def test_each_part_of_a_line_with_several_tags_belongs_to_it() -> None:
    recent = RecentLines()
    recent.add(1, a_line(1, "L: Good evening!\nK: " + "Hm. " * 80))
    first = find_original(recent.lines(1), Content("Good evening!"), NOON, frozenset())
    assert first is not None
    recent.mark_proxied(1, first, 11, Content("Good evening!"))
    assert find(recent.lines(1), "Hm. " * 80) == 11
    assert find(recent.lines(1), "Good evening!") is None


def test_a_post_that_is_posted_again_replaces_the_deleted_one() -> None:
    recent = RecentLines()
    recent.add(1, a_line(1, "L: Yes"))
    recent.mark_proxied(1, recent.lines(1)[0], 11, Content("Yes"))
    again = find_original(recent.lines(1), Content("Yes"), NOON, frozenset({11}))
    assert again is not None
    assert again.message_id == 11


def test_old_lines_are_forgotten() -> None:
    recent = RecentLines()
    recent.add(1, a_line(1, "L: Yes"))
    recent.add(1, replace(a_line(2, "L: No"), written_at=NOON + 3 * WINDOW))
    assert [line.message_id for line in recent.lines(1)] == [2]
