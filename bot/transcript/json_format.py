"""Transcripts as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bot.scenes.reveal import Revealed

if TYPE_CHECKING:
    from bot.transcript.transcript_content import TranscriptHeader, TranscriptTurn

VERSION = 1


class JsonFormat:
    """Writes one JSON object, whose `turns` have a line each."""

    def __init__(self) -> None:
        self._turns = 0

    def begin(self, header: TranscriptHeader) -> str:
        """Return everything up to the list of turns."""
        fields = {
            "format": "aside-transcript",
            "version": VERSION,
            "title": header.title,
            "book": header.book,
            "author": header.author,
            "setting": header.setting,
            "language": header.language,
            "started_at": header.started_at.isoformat(),
            "part": header.part,
            "characters": [character.name for character in header.characters],
        }
        return json.dumps(fields, ensure_ascii=False, indent=1)[:-2] + ',\n "turns": ['

    def write_turn(self, turn: TranscriptTurn) -> str:
        """Return one turn on a line of its own."""
        comma = "," if self._turns else ""
        self._turns += 1
        fields = {
            "id": turn.id,
            "kind": turn.kind.value,
            "speaker": turn.speaker,
            "created_at": turn.created_at.isoformat(),
            "beats": [
                {"kind": public.kind.value, "text": public.text}
                for public in (
                    beat.beat if isinstance(beat, Revealed) else beat for beat in turn.beats
                )
            ],
        }
        return f"{comma}\n  {json.dumps(fields, ensure_ascii=False)}"

    def end(self) -> str:
        """Return the end of the object."""
        return "\n ]\n}\n"
