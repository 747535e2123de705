"""Build beats from pieces of text.

Adjacent pieces of one kind merge into one beat. Empty pieces are dropped, and white space at a
beat's edges is removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import BeatKind, PrivateBeat, PublicBeat

if TYPE_CHECKING:
    from bot.her.beats import Beat


class BeatBuilder:
    """Collects pieces of text into beats.

    A beat never changes once it appears in `beats`, except that the last one's text may grow.
    """

    def __init__(self) -> None:
        self._finished: list[Beat] = []
        self._kind: BeatKind | None = None
        self._text = ""
        self._space = ""  # white space after the last beat, kept only if that beat continues
        self._separate = False  # whether the next piece starts after a break
        self._beats: tuple[Beat, ...] = ()
        self.has_public = False
        """True once any public text has been added."""

    @property
    def beats(self) -> tuple[Beat, ...]:
        """The beats so far."""
        return self._beats

    def add(self, kind: BeatKind, text: str, *, separate: bool = True) -> None:
        """Add a piece of text.

        Pass `separate=False` if the piece continues the previous one directly, perhaps within a
        word.
        """
        self._separate |= separate or kind is not self._kind
        core = text.strip()
        if not core:
            self._space += text
            return
        lead = text[: len(text) - len(text.lstrip())]
        space = self._space + lead
        if kind is self._kind:
            self._text += (
                _separator(self._text, core, space, kind) if self._separate else space
            ) + core
        else:
            self._begin(kind, core)
        self._space = text[len(lead) + len(core) :]
        self._separate = False
        self.has_public |= kind in (BeatKind.SPEECH, BeatKind.ACTION)
        self._beats = (*self._finished, _make_beat(kind, self._text))

    def _begin(self, kind: BeatKind, text: str) -> None:
        if self._kind is not None:
            self._finished.append(_make_beat(self._kind, self._text))
        self._kind, self._text = kind, text


def _make_beat(kind: BeatKind, text: str) -> Beat:
    if kind is BeatKind.SPEECH or kind is BeatKind.ACTION:
        return PublicBeat(kind, text)
    return PrivateBeat(kind, text)


def _separator(before: str, after: str, space: str, kind: BeatKind) -> str:
    """Return the text to put between two adjacent pieces of one kind."""
    if "\n" in space:
        return "\n" * min(space.count("\n"), 2)
    if kind is BeatKind.ACTION and before[-1].isalnum():
        return "，" if _is_wide(before[-1]) else ", "
    return "" if _is_wide(before[-1]) and _is_wide(after[0]) else " "


def _is_wide(char: str) -> bool:
    """Whether `char` belongs to a script without spaces between words."""
    return char >= "\u2e80"
