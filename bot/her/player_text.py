"""What people type, as beats: nothing in it is private, and HER's tags in it are only text."""

from __future__ import annotations

import re

from bot.her.beat_builder import BeatBuilder
from bot.her.beats import BeatKind, PublicBeat
from bot.her.inline_actions import InlineActionParser

_OOC_PREFIX = re.compile(r"[(\[（【]?\s*ooc\s*(?:[)\]）】]\s*[:：]?|[:：])", re.IGNORECASE)


def parse_player_text(text: str) -> tuple[PublicBeat, ...]:
    """Return the beats of a person's line: `*sighs*` and `_sighs_` are actions, the rest is speech.

    Bold, underlined and escaped text and code are speech to the letter; see inline.py.
    """
    inline, script = InlineActionParser(marks="*_"), BeatBuilder()
    for kind, piece in (*inline.feed(text), *inline.close()):
        script.add(kind, piece, apart=kind is BeatKind.ACTION)
    return tuple(beat for beat in script.beats if isinstance(beat, PublicBeat))


def is_out_of_character(text: str) -> bool:
    """Tell whether a line is the person's own, not the character's: `ooc: …`, or each of its lines `((…))` or `// …`.

    A link (`https://…`) is none.
    """
    text = text.strip()
    if _OOC_PREFIX.match(text) or _in_parentheses(text):
        return True
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and all(line.startswith("//") or _in_parentheses(line) for line in lines)


def _in_parentheses(text: str) -> bool:
    """Whether double parentheses open at the beginning and are closed at the very end or never."""
    return (text.startswith("((") and "))" not in text.rstrip(")")) or (
        text.startswith("（（") and "））" not in text.rstrip("）")
    )
