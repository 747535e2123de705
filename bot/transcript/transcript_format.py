"""How a story is written in each format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bot.transcript.format_name import FormatName
from bot.transcript.html_format import HtmlFormat
from bot.transcript.json_format import JsonFormat
from bot.transcript.markdown_format import MarkdownFormat

if TYPE_CHECKING:
    from bot.transcript.transcript_content import TranscriptHeader, TranscriptTurn


class TranscriptFormat(Protocol):
    """Writes a transcript piece by piece, so that a long story never is in memory as a whole."""

    def begin(self, header: TranscriptHeader) -> str:
        """Return the text before the first turn."""

    def write_turn(self, turn: TranscriptTurn) -> str:
        """Return one turn."""

    def end(self) -> str:
        """Return the text after the last turn."""


def create_format(name: FormatName) -> TranscriptFormat:
    """Return a writer for one file in this format."""
    match name:
        case FormatName.HTML:
            return HtmlFormat()
        case FormatName.MARKDOWN:
            return MarkdownFormat()
        case FormatName.JSON:
            return JsonFormat()
