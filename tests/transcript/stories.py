"""A short story with every kind of turn."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.her.beats import Beat, action, planning, speech, thought
from bot.scenes.reveal import Destination
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from bot.transcript.transcript_content import TranscriptCharacter, TranscriptHeader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

NOW = datetime(2026, 12, 1, 16, 20, tzinfo=UTC)
PLAYER = 7
STRANGER = 8
HEADER = TranscriptHeader(
    title="The <Study>",
    book="Pride and Prejudice",
    author="Jane Austen",
    setting="The library, *after* breakfast.",
    language="en",
    started_at=NOW,
    characters=(TranscriptCharacter("Mr Bennet"), TranscriptCharacter("Elizabeth Bennet")),
)


def make_turn(
    turn_id: int,
    kind: TurnKind,
    speaker: str,
    *beats: Beat,
    state: TurnState = TurnState.DONE,
    destinations: tuple[Destination | None, ...] = (),
    author_id: int | None = None,
    listener_id: int | None = None,
) -> Turn:
    take = Take(turn_id, 1, beats, "", destinations=destinations)
    return Turn(
        turn_id,
        1,
        kind,
        speaker,
        state,
        NOW,
        take,
        author_id=author_id,
        listener_id=listener_id,
    )


STORY = (
    make_turn(1, TurnKind.LINE, "Lizzy", action("closes the door"), speech("You sent for me?")),
    make_turn(
        2,
        TurnKind.REPLY,
        "Mr Bennet",
        planning("He should tease her."),
        thought("She does not know yet."),
        action("lays down his book"),
        speech("I did, child."),
    ),
    make_turn(
        3,
        TurnKind.REPLY,
        "Mr Bennet",
        thought("Revealed to all."),
        speech("An unhappy alternative."),
        destinations=(Destination.SPOILER, None),
    ),
    make_turn(4, TurnKind.NARRATION, "Environment", action("The clock strikes eleven.")),
    make_turn(5, TurnKind.WHISPER, "Lizzy", speech("Is it Mr Collins?"), author_id=PLAYER),
    make_turn(6, TurnKind.WHISPER, "Mr Bennet", speech("It is."), listener_id=PLAYER),
    make_turn(7, TurnKind.LINE, "Lizzy", speech("Withdrawn."), state=TurnState.HIDDEN),
)


async def read_turns(turns: Sequence[Turn] = STORY) -> AsyncIterator[Turn]:
    for turn in turns:
        yield turn
