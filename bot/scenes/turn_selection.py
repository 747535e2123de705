"""Selections of turns from a story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bot.scenes.turn import TurnKind


@dataclass(frozen=True, slots=True)
class TurnSelection:
    """The turns of a story that a query reads. The default selects all of them.

    Hidden turns and lines without words are never part of a story.
    """

    since: int = 0  # only turns with this id or a later one
    before: int | None = None  # only turns with an earlier id
    heard_by: str | None = None  # only turns that this character's mind has
    kind: TurnKind | None = None
    answering: int | None = None  # only turns that answer this one
    done: bool = False  # only finished turns
    public: bool = False  # no whispers


WHOLE_STORY: Final = TurnSelection()
