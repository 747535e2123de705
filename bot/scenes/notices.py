"""Sentences of the program's own that a scene's people read in its channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.errors import Remedy


@dataclass(frozen=True, slots=True)
class Notice:
    """A fact for a scene's people, and the action that helps, if there is one.

    `text` names no command; whoever shows the notice words the remedy.
    """

    text: str
    remedy: Remedy | None = None
