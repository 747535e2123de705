"""The project's English stays plain: limits on the idioms that `tests/language.py` counts."""

from __future__ import annotations

import pytest

from tests.language import ROOT, SOURCES, Tally, passages_in, tally

LIMITS = {
    # corpus: the highest rate of each idiom per 10,000 words
    "docstrings and comments": {"where": 10, "what": 15, "nobody": 40, "idiom": 5},
    "strings": {"where": 5, "what": 15, "nobody": 40, "idiom": 5},
    "test names": {"where": 5, "what": 10, "nobody": 30, "idiom": 5},
    "Markdown": {"where": 20, "what": 30, "nobody": 40, "idiom": 5},
}


@pytest.fixture(name="tallies", scope="module")
def count_idioms() -> dict[str, Tally]:
    """Read all of the project's prose, in one of the worker processes only."""
    return tally(passages_in(ROOT / source for source in SOURCES))


@pytest.mark.parametrize(
    ("corpus", "idiom", "limit"),
    [(corpus, idiom, limit) for corpus in LIMITS for idiom, limit in LIMITS[corpus].items()],
)
def test_an_idiom_stays_rare(
    tallies: dict[str, Tally], corpus: str, idiom: str, limit: float
) -> None:
    rate = tallies[corpus].rate(idiom)
    assert rate <= limit, f"{rate:.0f} per 10,000 words: see python -m tests.language --lines"


def test_conditions_are_introduced_by_if(tallies: dict[str, Tally]) -> None:
    assert tallies["docstrings and comments"].rate("if") >= 60
