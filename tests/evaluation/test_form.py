"""Form metrics of replies with known faults."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.form import FormReport, ReplySample, distinct, longest_repeat, measure_form

GOOD = ReplySample(
    raw=(
        "<system_thinking>A plan.</system_thinking>Mr Bennet: <role_thinking>A thought."
        "</role_thinking><role_action>smiles</role_action>Good morning, my dear Lizzy."
    ),
    character="Mr Bennet",
    others=("Elizabeth Bennet",),
    seconds=2.0,
    tokens=40,
)


def measure(*samples: ReplySample) -> FormReport:
    report = measure_form(samples)
    assert report is not None
    return report


def test_a_good_reply_has_good_form() -> None:
    report = measure(GOOD)
    assert (report.speech, report.planning_closed, report.name_once) == (1, 1, 1)
    assert (report.no_other_lines, report.language_kept) == (1, 1)
    assert (report.thoughts, report.actions, report.words) == (1, 1, 6)
    assert (report.seconds, report.tokens_per_second) == (2.0, 20.0)


def test_each_fault_lowers_its_own_share() -> None:
    silent = replace(GOOD, raw=GOOD.raw.split("Good morning")[0])
    assert measure(GOOD, silent).speech == 0.5
    forced = replace(GOOD, forced_planning_end=True)
    assert measure(GOOD, forced).planning_closed == 0.5
    nameless = replace(GOOD, raw=GOOD.raw.replace("Mr Bennet: ", ""))
    twice = replace(GOOD, raw=GOOD.raw.replace("Good", "Mr Bennet: Good"))
    assert measure(GOOD, nameless, twice).name_once == pytest.approx(1 / 3)
    other = replace(GOOD, raw=GOOD.raw + "\nElizabeth Bennet: Good morning, Papa.")
    assert measure(GOOD, other).no_other_lines == 0.5
    chinese = replace(
        GOOD, raw=GOOD.raw.split("Good")[0] + "早上好，我亲爱的女儿。今天的天气很好。"
    )
    assert measure(GOOD, chinese).language_kept == 0.5
    assert measure(replace(chinese, chinese=True)).language_kept == 1


def test_repetition_is_measured_over_all_replies() -> None:
    assert measure(GOOD, GOOD).longest_repeat == 6
    assert measure(GOOD, GOOD).distinct_1 == 0.5
    assert measure(GOOD).distinct_3 == 1


def test_no_replies_have_no_report() -> None:
    assert measure_form([]) is None


def longest_repeat_by_search(words: list[str]) -> int:
    for size in range(len(words) // 2, 0, -1):
        for start in range(len(words) - 2 * size + 1):
            span = words[start : start + size]
            rest = range(start + size, len(words) - size + 1)
            if any(words[other : other + size] == span for other in rest):
                return size
    return 0


@given(st.lists(st.sampled_from("abc"), max_size=24))
def test_the_longest_repeat_is_what_a_plain_search_finds(words: list[str]) -> None:
    assert longest_repeat(words) == longest_repeat_by_search(words)


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=8), max_size=5), st.integers(1, 3))
def test_distinct_n_is_a_share(texts: list[list[str]], size: int) -> None:
    assert 0 <= distinct(texts, size) <= 1
