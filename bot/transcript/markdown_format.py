"""Transcripts as Markdown (CommonMark)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.her.beats import BeatKind
from bot.scenes.reveal import Revealed
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from bot.her.beats import PublicBeat
    from bot.transcript.transcript_content import TranscriptHeader, TranscriptTurn

# Every ASCII punctuation character that can begin a construct. A backslash makes it literal.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$^=])")
_LIST_BEGIN = re.compile(r"^(\s*)([-+]|\d{1,9}(?=[.)]))", re.MULTILINE)
_LABELS = {BeatKind.THOUGHT: "Thought", BeatKind.PLANNING: "Planning"}


class MarkdownFormat:
    """Writes a paragraph per turn, with thoughts as quotes below it."""

    def begin(self, header: TranscriptHeader) -> str:
        """Return the title, the source, the cast and the setting."""
        part = f" (part {header.part})" if header.part > 1 else ""
        source = ", ".join(filter(None, (header.book, header.author)))
        cast = ", ".join(escape_markdown(character.name) for character in header.characters)
        return (
            f"# {escape_markdown(header.title)}{part}\n\n"
            f"*{escape_markdown(source)}* · {header.started_at:%Y-%m-%d}\n\n"
            f"Cast: {cast}\n\n"
            f"{escape_markdown(header.setting)}\n\n---\n"
        )

    def write_turn(self, turn: TranscriptTurn) -> str:
        """Return the turn as a paragraph under the speaker's name."""
        whispered = " (whisper)" if turn.kind is TurnKind.WHISPER else ""
        public: list[str] = []
        private: list[str] = []
        for beat in turn.beats:
            if isinstance(beat, Revealed):
                text = escape_markdown(beat.beat.text).replace("\n", "\n> ")
                private.append(f"\n> {_LABELS[beat.beat.kind]}: {text}\n")
            else:
                public.append(_format_public(beat, is_narrated=turn.is_narrated))
        words = " ".join(public)
        return f"\n**{escape_markdown(turn.speaker)}**{whispered} {words}\n{''.join(private)}"

    def end(self) -> str:
        """Return nothing: Markdown needs no end."""
        return ""


def escape_markdown(text: str) -> str:
    """Return `text` with a backslash before every character that could be Markdown."""
    lines = (line.strip() for line in text.strip().splitlines())  # indented lines would be code
    escaped = _LIST_BEGIN.sub(_escape_list, _SPECIAL.sub(r"\\\1", "\n".join(lines)))
    return re.sub(r"(?<!\n)\n(?!\n)", "  \n", escaped)  # two spaces keep a line break


def _escape_list(found: re.Match[str]) -> str:
    space, marker = found.groups()
    return f"{space}\\{marker}" if marker in "-+" else f"{space}{marker}\\"


def _format_public(beat: PublicBeat, *, is_narrated: bool) -> str:
    text = escape_markdown(beat.text)
    if beat.kind is not BeatKind.ACTION or is_narrated:
        return text
    # Emphasis ends at a blank line, so each paragraph has its own.
    return "\n\n".join(f"*{part.strip()}*" for part in re.split(r"\n\s*\n", text) if part.strip())
