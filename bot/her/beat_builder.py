"""Beats as they come together: neighbours of one kind merge, empty ones vanish, edges are trimmed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import BeatKind, PrivateBeat, PublicBeat

if TYPE_CHECKING:
    from bot.her.beats import Beat


class BeatBuilder:
    """Grows by pieces of text. What `beats` has shown once stays: only the last beat's text may grow."""

    def __init__(self) -> None:
        self._finished: list[Beat] = []
        self._kind: BeatKind | None = None
        self._text = ""
        self._space = (
            ""  # white space after the last beat, which counts only where that beat goes on
        )
        self._apart = False  # whether the next piece is another one, not the last one going on
        self._beats: tuple[Beat, ...] = ()
        self.is_public = False
        """Whether anything public has been added."""

    @property
    def beats(self) -> tuple[Beat, ...]:
        """The beats so far."""
        return self._beats

    def add(self, kind: BeatKind, text: str, *, apart: bool = True) -> None:
        """Add a piece; `apart` where it does not go on in the middle of the piece before it."""
        self._apart |= apart or kind is not self._kind
        core = text.strip()
        if not core:
            self._space += text
            return
        lead = text[: len(text) - len(text.lstrip())]
        space = self._space + lead
        if kind is self._kind:
            self._text += (_between(self._text, core, space, kind) if self._apart else space) + core
        else:
            self._begin(kind, core)
        self._space = text[len(lead) + len(core) :]
        self._apart = False
        self.is_public |= kind in (BeatKind.SPEECH, BeatKind.ACTION)
        self._beats = (*self._finished, _beat(kind, self._text))

    def _begin(self, kind: BeatKind, text: str) -> None:
        if self._kind is not None:
            self._finished.append(_beat(self._kind, self._text))
        self._kind, self._text = kind, text


def _beat(kind: BeatKind, text: str) -> Beat:
    if kind is BeatKind.SPEECH or kind is BeatKind.ACTION:
        return PublicBeat(kind, text)
    return PrivateBeat(kind, text)


def _between(before: str, after: str, space: str, kind: BeatKind) -> str:
    """What separates two beats of one kind that have become neighbours."""
    if "\n" in space:
        return "\n" * min(space.count("\n"), 2)
    if kind is BeatKind.ACTION and before[-1].isalnum():
        return "，" if _is_wide(before[-1]) else ", "
    return "" if _is_wide(before[-1]) and _is_wide(after[0]) else " "


def _is_wide(char: str) -> bool:
    """Whether `char` is of a script that puts no spaces between words."""
    return char >= "\u2e80"
