from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.store.column_values import from_microseconds, make_storable, to_microseconds

# hypothesis needs bounds without a time zone
EARLIEST = datetime.fromisoformat("1900-01-02")
LATEST = datetime.fromisoformat("9999-01-01")
zones = st.builds(timezone, st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))


@given(st.datetimes(timezones=zones, min_value=EARLIEST, max_value=LATEST))
def test_times_round_trip_to_the_microsecond_in_utc(when: datetime) -> None:
    back = from_microseconds(to_microseconds(when))
    assert back == when
    assert back.tzinfo is UTC


def test_a_time_without_a_zone_is_rejected() -> None:
    with pytest.raises(ValueError, match="zone"):
        to_microseconds(datetime(2026, 1, 1))  # noqa: DTZ001 - the mistake under test


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert make_storable("Papa \ud83d!") == "Papa \ufffd!"


def test_a_surrogate_pair_becomes_its_character() -> None:
    assert make_storable("Papa \ud83d\ude00!") == "Papa 😀!"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_all_other_text_is_unchanged(text: str) -> None:
    assert make_storable(text) == text


@pytest.mark.parametrize("value", [7, 2**63 - 1, 0.5, None])
def test_other_values_are_unchanged(value: float | None) -> None:
    assert make_storable(value) == value
