"""Parses the continuation of a reply. The beats that are continued stay exactly as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import BeatKind, speech
from bot.her.reply_parser import ReplyParser

if TYPE_CHECKING:
    from bot.her.beats import Beat

_HEAD = "<system_thinking></system_thinking>{character}: "


class ContinuationParser:
    """Parses the new text on its own and appends its beats to `before`.

    Malformed new text can so neither hide, rename nor release a beat of `before`. Only speech may
    grow: new text that starts with speech continues a final speech beat.
    """

    def __init__(
        self,
        before: tuple[Beat, ...],
        character: str,
        others: tuple[str, ...],
        *,
        well_formed: bool,
        aliases: tuple[str, ...],
    ) -> None:
        self._before = before
        self._parser = ReplyParser(
            character, others, prefilled=False, well_formed=well_formed, aliases=aliases
        )
        # The new text continues a turn: its plan is finished and its speaker is known.
        self._parser.feed(_HEAD.format(character=character))
        self._first = ""  # the first character of the new text

    @property
    def beats(self) -> tuple[Beat, ...]:
        """The beats so far, those of `before` first."""
        return self._append(self._parser.beats)

    @property
    def stopped(self) -> bool:
        """True once the rest of the stream is ignored."""
        return self._parser.stopped

    def feed(self, text: str) -> None:
        """Take a piece of the stream."""
        self._first = self._first or text[:1]
        self._parser.feed(text)

    def close(self, *, truncated: bool = False) -> tuple[Beat, ...]:
        """End the stream and return the beats."""
        return self._append(self._parser.close(truncated=truncated).beats)

    def _append(self, new: tuple[Beat, ...]) -> tuple[Beat, ...]:
        last = self._before[-1] if self._before else None
        if (
            last is None
            or not new
            or last.kind is not BeatKind.SPEECH
            or new[0].kind is not BeatKind.SPEECH
        ):
            return (*self._before, *new)
        space = " " if self._first.isspace() or _ends_word(last.text, new[0].text) else ""
        return (*self._before[:-1], speech(f"{last.text}{space}{new[0].text}"), *new[1:])


def _ends_word(before: str, new: str) -> bool:
    """Return whether a new word starts although the model wrote no space before it."""
    return not before[-1:].isalnum() and before[-1:] not in "-'’" and new[:1].isalnum()
