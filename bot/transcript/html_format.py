"""Transcripts as one HTML file, with the faces inside."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import Image

from bot.her.beats import BeatKind
from bot.scenes.reveal import Revealed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.transcript.transcript_content import (
        TranscriptCharacter,
        TranscriptHeader,
        TranscriptTurn,
    )

FACE_SIDE: Final = 96
"""Width and height of a face in pixels: twice its size on the page, for dense screens."""

_LABELS: Final = {BeatKind.THOUGHT: "Thought", BeatKind.PLANNING: "Planning"}


class HtmlFormat:
    """Writes a page that reads well on a phone, in light and dark mode.

    The page loads nothing from elsewhere and runs no script.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def begin(self, header: TranscriptHeader) -> str:
        """Return the head of the page, with each face once, and the setting."""
        faces = {
            number: address
            for number, character in enumerate(header.characters)
            if (address := _encode_face(character))
        }
        self._numbers = {
            character.name: number for number, character in enumerate(header.characters)
        }
        return _templates().get_template("begin.html").render(header=header, faces=faces)

    def write_turn(self, turn: TranscriptTurn) -> str:
        """Return one turn. Thoughts and planning are folded."""
        return (
            _templates()
            .get_template("turn.html")
            .render(
                turn=turn,
                number=self._numbers.get(turn.speaker),
                initial=turn.speaker.strip()[:1].upper(),
                pieces=list(_list_pieces(turn)),
            )
        )

    def end(self) -> str:
        """Return the end of the page."""
        return _templates().get_template("end.html").render()


def _list_pieces(turn: TranscriptTurn) -> Iterator[dict[str, str]]:
    for beat in turn.beats:
        if isinstance(beat, Revealed):
            private = beat.beat
            yield {"kind": "private", "label": _LABELS[private.kind], "text": private.text}
        else:
            kind = "event" if turn.is_narrated else beat.kind.value
            yield {"kind": kind, "label": "", "text": beat.text}


def _encode_face(character: TranscriptCharacter) -> str | None:
    """Return a face as a data address, or None. A web address would be loaded, so it is left out.

    Faces come from the library, which has checked and cropped them.
    """
    if not isinstance(character.face, bytes):
        return None
    with Image.open(BytesIO(character.face)) as picture:
        small = picture.convert("RGBA")
        small.thumbnail((FACE_SIDE, FACE_SIDE))
        file = BytesIO()
        small.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("bot.transcript", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
