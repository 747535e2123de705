"""Parse text typed by people. All of it is public, and HER's tags in it are plain text."""

from __future__ import annotations

import re

from bot.her.beat_builder import BeatBuilder
from bot.her.beats import BeatKind, PublicBeat
from bot.her.inline_actions import InlineActionParser

_OOC_PREFIX = re.compile(r"[(\[（【]?\s*ooc\s*(?:[)\]）】]\s*[:：]?|[:：])", re.IGNORECASE)


def parse_player_text(text: str) -> tuple[PublicBeat, ...]:
    """Return the beats of a person's line: `*sighs*` and `_sighs_` are actions, the rest is speech.

    Bold, underlined and escaped text and code stay speech, unchanged. See `inline_actions`.
    """
    inline, builder = InlineActionParser(marks="*_"), BeatBuilder()
    for kind, piece in (*inline.feed(text), *inline.close()):
        builder.add(kind, piece, separate=kind is BeatKind.ACTION)
    return tuple(beat for beat in builder.beats if isinstance(beat, PublicBeat))


def is_out_of_character(text: str) -> bool:
    """Return True if the person speaks out of character.

    Such a message begins with `ooc:`, or each of its lines is `((…))` or begins with `//`. A link
    such as `https://…` does not count.
    """
    text = text.strip()
    if _OOC_PREFIX.match(text) or _in_parentheses(text):
        return True
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and all(line.startswith("//") or _in_parentheses(line) for line in lines)


def _in_parentheses(text: str) -> bool:
    """Whether double parentheses open at the start and are closed at the end or not at all."""
    return (text.startswith("((") and "))" not in text.rstrip(")")) or (
        text.startswith("（（") and "））" not in text.rstrip("）")
    )
