"""Notes that game masters give to minds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class NewNote:
    """A note from a game master before it is stored, for one character or for all."""

    author_id: int
    character: str | None
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Note:
    """A game master's note that one mind, or every mind, keeps until the note is removed."""

    id: int
    character: str | None  # if not for every character
    text: str

    def concerns(self, character: str) -> bool:
        """Return whether the note is for this character."""
        return self.character in (None, character)
