"""Parse text typed by people. All of it is public, and HER's tags in it are plain text."""

from __future__ import annotations

import re

from bot.her.beat_builder import BeatBuilder
from bot.her.beats import BeatKind, PublicBeat, action
from bot.her.inline_actions import Brackets, InlineActionParser
from bot.her.speaker_names import normalise_name

_OOC_PREFIX = re.compile(r"[(\[（【]?\s*ooc\s*(?:[)\]）】]\s*[:：]?|[:：])", re.IGNORECASE)
_OOC_PASSAGE = re.compile(r"[^\S\n]*(?:\(\(.*?\)\)+|（（.*?））+)", re.DOTALL)
_CODE = re.compile(r"`")
_BRACKETED_LINE = re.compile(
    r"^[^\S\n]*[\[［【]([^\[\]［］【】\n]+)[\]］】][^\S\n]*$", re.MULTILINE
)
_ENVIRONMENT = re.compile(r"\[([^\[\]]+)\]")
_MIN_LETTERS = 2


def parse_player_text(text: str, speaker: str = "") -> tuple[PublicBeat, ...]:
    """Return the beats of a person's line.

    `*sighs*`, `_sighs_`, `[sighs]` and `(sighs)` are actions, the rest is speech. A line that is
    only `[A clock strikes.]` is an event around the scene (see `read_environment`), unless it
    begins with the name of `speaker`. Passages in double parentheses are out of character and left
    out. Bold, underlined and escaped text and code stay speech, unchanged. See `inline_actions`.
    """
    if not _CODE.search(text):
        text = _OOC_PASSAGE.sub("", text)
    beats: list[PublicBeat] = []
    end = 0
    for line in _BRACKETED_LINE.finditer(text):
        event = line.group(1).strip()
        if _is_event(event, speaker) and not _CODE.search(text):
            beats += _parse_inline(text[end : line.start()])
            beats.append(action(f"[{event}]"))
            end = line.end()
    return (*beats, *_parse_inline(text[end:]))


def read_environment(beat: PublicBeat) -> str | None:
    """Return the event around the scene that a beat of a person's line describes, if any."""
    event = _ENVIRONMENT.fullmatch(beat.text) if beat.kind is BeatKind.ACTION else None
    return event.group(1) if event else None


def _parse_inline(text: str) -> list[PublicBeat]:
    inline = InlineActionParser("*_", Brackets.PLAYER)
    builder = BeatBuilder()
    for kind, piece in (*inline.feed(text), *inline.close()):
        builder.add(kind, piece, separate=kind is BeatKind.ACTION)
    return [beat for beat in builder.beats if isinstance(beat, PublicBeat)]


def _is_event(text: str, speaker: str) -> bool:
    if sum(map(str.isalpha, text)) < _MIN_LETTERS:
        return False
    names = {normalise_name(word) for word in (speaker, *speaker.split())} - {""}
    beginnings = (text.split()[0], text[: len(speaker)])
    return not names & {normalise_name(beginning) for beginning in beginnings}


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
