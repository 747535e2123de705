"""What a transcript contains, and which turns and beats one reader may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.her.beats import PublicBeat
from bot.scenes.reveal import Destination, Revealed, RevealPolicy, release_to_gm
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from datetime import datetime

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_AS_STORED: Final = RevealPolicy(Destination.OFF, Destination.OFF)
"""Releases only what was decided when the take was posted."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The person a transcript is for."""

    user_id: int
    has_thoughts: bool = False  # a game master who asked for all thoughts and planning


@dataclass(frozen=True, slots=True)
class TranscriptCharacter:
    """A character of the story, with its face as a PNG or a web address."""

    name: str
    face: bytes | str | None = None


@dataclass(frozen=True, slots=True)
class TranscriptHeader:
    """The part of a transcript before the first turn."""

    title: str
    book: str
    author: str
    setting: str
    language: str
    started_at: datetime
    characters: tuple[TranscriptCharacter, ...]
    part: int = 1  # of a story that needs several files


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """One turn with the beats that the reader may see, in order."""

    id: int
    kind: TurnKind
    speaker: str
    created_at: datetime
    beats: tuple[PublicBeat | Revealed, ...]

    @property
    def is_narrated(self) -> bool:
        """True if the text describes an event, so that it has no quotes or stage directions."""
        return self.kind in (TurnKind.NARRATION, TurnKind.SETTING)


def describe_story(scene: Scene, characters: tuple[TranscriptCharacter, ...]) -> TranscriptHeader:
    """Return the header of a scene's transcript."""
    scenario = scene.scenario
    return TranscriptHeader(
        title=scenario.title,
        book=scenario.book,
        author=scenario.author,
        setting=scenario.opening or scenario.setting,
        language=scenario.language,
        started_at=scene.started_at,
        characters=characters,
    )


def select_turn(turn: Turn, reader: Reader) -> TranscriptTurn | None:
    """Return the part of a turn that the reader may have, or None if that is nothing.

    A whisper is only for the person who whispered and the person who was answered. Thoughts and
    planning are included if the reader has them all, or if they were revealed to the channel.
    """
    if turn.state is not TurnState.DONE or turn.take is None:
        return None
    if not turn.public and reader.user_id not in (turn.author_id, turn.listener_id):
        return None
    beats = _select_beats(turn.take, reader)
    if not beats:
        return None
    return TranscriptTurn(turn.id, turn.kind, turn.speaker, turn.created_at, beats)


def _select_beats(take: Take, reader: Reader) -> tuple[PublicBeat | Revealed, ...]:
    if not reader.has_thoughts:
        return _AS_STORED.select_for_channel(take.beats, take.destinations)
    released = iter(release_to_gm(take.beats))
    return tuple(beat if isinstance(beat, PublicBeat) else next(released) for beat in take.beats)
