"""Thoughts that are open to one player."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opening:
    """A take whose thoughts a player may read, or tried to read."""

    turn_id: int
    take_id: int
    reader_id: int
