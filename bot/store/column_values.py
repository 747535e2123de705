"""Convert values of the domain to SQLite columns and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

Value: TypeAlias = str | int | float | bytes | None

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


def make_storable(value: Value) -> Value:
    """Return `value` as SQLite can store it.

    Discord's JSON may carry a lone surrogate in a text. It becomes U+FFFD.
    """
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def dump_audience(characters: frozenset[str] | None) -> str | None:
    """Return a turn's audience as stored: a JSON list of names, or None if every character hears
    it.
    """
    return None if characters is None else json.dumps(sorted(characters), ensure_ascii=False)


def load_audience(stored: str | None) -> frozenset[str] | None:
    """Return a turn's audience from the value that `dump_audience` stored."""
    return None if stored is None else frozenset(json.loads(stored))


def to_microseconds(when: datetime) -> int:
    """Return an aware time as microseconds since 1970. Raise ValueError if it has no time zone."""
    if when.tzinfo is None:
        raise ValueError("the time has no time zone")
    return (when - _EPOCH) // _TICK


def from_microseconds(stored: int) -> datetime:
    """Return stored microseconds as a time in UTC."""
    return _EPOCH + stored * _TICK
