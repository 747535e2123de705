"""Write a story as one or more transcript files."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.transcript.transcript_content import select_turn
from bot.transcript.transcript_format import create_format

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator

    from bot.scenes.turn import Turn
    from bot.transcript.format_name import FormatName
    from bot.transcript.transcript_content import Reader, TranscriptHeader


@dataclass(frozen=True, slots=True, repr=False)
class TranscriptFile:
    """One file of a transcript. Each is complete and can be opened on its own."""

    name: str
    content: bytes  # UTF-8
    turns: int


async def write_transcript(
    turns: AsyncIterable[Turn],
    header: TranscriptHeader,
    reader: Reader,
    name: FormatName,
    *,
    stem: str = "transcript",
    max_bytes: int | None = None,
) -> AsyncIterator[TranscriptFile]:
    """Yield the files of a transcript, in order: one, or as many as `max_bytes` per file requires.

    Only the file that is being written is in memory. A story without any turn for this reader
    gives no file. A single turn that is larger than `max_bytes` has a file of its own.
    """
    file = await asyncio.to_thread(_OpenFile, header, name, stem)
    async for turn in turns:
        selected = select_turn(turn, reader)
        if selected is None:
            continue
        text = file.format.write_turn(selected).encode()
        if file.turns and max_bytes is not None and file.size + len(text) > max_bytes:
            yield file.close()
            following = replace(header, part=file.header.part + 1)
            file = await asyncio.to_thread(_OpenFile, following, name, stem)
            text = file.format.write_turn(selected).encode()
        file.add(text)
    if file.turns:
        yield file.close()


class _OpenFile:
    """A transcript file that is being written. To open one scales the faces, which takes time."""

    def __init__(self, header: TranscriptHeader, name: FormatName, stem: str) -> None:
        self.header = header
        self.format = create_format(name)
        self.turns = 0
        part = f"-{header.part}" if header.part > 1 else ""
        self._name = f"{stem}{part}.{name.value}"
        self._pieces = [self.format.begin(header).encode()]
        self._end = self.format.end().encode()
        self.size = len(self._pieces[0]) + len(self._end)
        """Bytes, including the end of the file."""

    def add(self, text: bytes) -> None:
        """Append the text of one turn."""
        self._pieces.append(text)
        self.size += len(text)
        self.turns += 1

    def close(self) -> TranscriptFile:
        """Return the finished file."""
        return TranscriptFile(self._name, b"".join((*self._pieces, self._end)), self.turns)
