from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.store.column_values import microseconds, storable, time

# hypothesis wants its bounds without a zone.
EARLIEST, LATEST = datetime.fromisoformat("1900-01-02"), datetime.fromisoformat("9999-01-01")
zones = st.builds(timezone, st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))


@given(st.datetimes(timezones=zones, min_value=EARLIEST, max_value=LATEST))
def test_a_time_comes_back_to_the_microsecond_in_utc(when: datetime) -> None:
    back = time(microseconds(when))
    assert back == when
    assert back.tzinfo is UTC


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        microseconds(datetime(2026, 1, 1))  # noqa: DTZ001 - the very mistake


def test_half_a_character_becomes_the_replacement_character() -> None:
    assert storable("Papa \ud83d!") == "Papa \ufffd!"


def test_two_halves_become_the_character_they_are() -> None:
    assert storable("Papa \ud83d\ude00!") == "Papa 😀!"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_all_other_text_stays_as_it_is(text: str) -> None:
    assert storable(text) == text


@pytest.mark.parametrize("value", [7, 2**63 - 1, 0.5, None])
def test_what_is_no_text_stays_as_it_is(value: float | None) -> None:
    assert storable(value) == value
