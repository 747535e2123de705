"""How values of the domain look in SQLite's columns, and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

Value: TypeAlias = str | int | float | None

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


def storable(value: Value) -> Value:
    """Return `value`, text made valid Unicode: a lone surrogate (Discord's JSON may carry one) becomes U+FFFD."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def heard_by(characters: frozenset[str] | None) -> str | None:
    """Return who hears a turn as it is stored: a list of names, or nothing where everyone does."""
    return None if characters is None else json.dumps(sorted(characters), ensure_ascii=False)


def hearers(stored: str | None) -> frozenset[str] | None:
    """Return who hears a turn, as `heard_by` stored it."""
    return None if stored is None else frozenset(json.loads(stored))


def microseconds(when: datetime) -> int:
    """Return an aware time as microseconds since 1970. Raises ValueError where it has no zone."""
    if when.tzinfo is None:
        raise ValueError("a time without a zone can't be stored")
    return (when - _EPOCH) // _TICK


def time(stored: int) -> datetime:
    """Return stored microseconds as a time in UTC."""
    return _EPOCH + stored * _TICK
