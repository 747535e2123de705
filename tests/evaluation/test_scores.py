"""Scores are computed by the published formula."""

from __future__ import annotations

import pytest

from bot.evaluation.scores import coser_score, estimate


@pytest.mark.parametrize(
    ("severities", "rounds", "score"),
    [
        ((), 0, 100.0),
        ((1,), 0, 95.0),
        ((3, 4), 10, 80.0),  # 100 - (7 - 3) * 5
        ((5,) * 10, 0, 0.0),  # never below 0
        ((1,), 20, 100.0),  # never above 100
    ],
)
def test_a_score_follows_the_formula(
    severities: tuple[int, ...], rounds: int, score: float
) -> None:
    assert coser_score(severities, rounds) == pytest.approx(score)


def test_an_estimate_encloses_its_mean_and_repeats_with_the_same_seed() -> None:
    first = estimate([10.0, 20.0, 30.0, 40.0], seed=3)
    assert first is not None
    assert first.low < first.mean == 25.0 < first.high
    assert first == estimate([10.0, 20.0, 30.0, 40.0], seed=3)


def test_equal_samples_have_no_spread_and_no_samples_have_no_estimate() -> None:
    same = estimate([50.0] * 8)
    assert same is not None
    assert (same.low, same.high, same.count) == (50.0, 50.0, 8)
    assert estimate([]) is None
