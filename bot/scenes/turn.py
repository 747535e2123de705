"""Turns, the contributions to a scene, and takes, the alternative versions of a turn."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from bot.her.beats import Beat, PublicBeat
    from bot.scenes.reveal import Destination


class TurnKind(StrEnum):
    """The kind of a turn. The values are stored in the database."""

    LINE = "line"  # a person's line, as a character or under their own name
    REPLY = "reply"  # a character's turn
    NARRATION = "narration"  # the environment's turn
    SETTING = "setting"  # a change of setting; `speaker` is Scene, Time or Place
    WHISPER = "whisper"  # from or to one mind, and not shown in the channel


PUBLIC: Final = frozenset({TurnKind.LINE, TurnKind.REPLY, TurnKind.NARRATION, TurnKind.SETTING})
"""The kinds of turns that everyone reads in the channel."""


class TurnState(StrEnum):
    """The progress of a turn. The values are stored in the database."""

    THINKING = "thinking"  # owed: stored before it is generated, so that it survives a restart
    DONE = "done"
    FAILED = "failed"  # no usable reply came; a retry is possible
    HIDDEN = "hidden"  # removed from the story


@dataclass(frozen=True, slots=True)
class Take:
    """One version of a turn, generated or written by a person."""

    id: int
    number: int  # from 1
    beats: tuple[Beat, ...]
    raw: str  # the model's text with its prefill, or the person's text
    seed: int | None = None  # only of a generated take
    destinations: tuple[Destination | None, ...] = ()  # of its private beats, by beat

    def __repr__(self) -> str:
        return f"Take(id={self.id}, number={self.number}, {len(self.beats)} beats)"


@dataclass(frozen=True, slots=True)
class Turn:
    """One contribution to a scene, with its current take."""

    id: int  # ascending within the database; orders the turns of a scene
    scene_id: int
    kind: TurnKind
    speaker: str  # a character's name, or a person's display name at that time
    state: TurnState
    created_at: datetime
    take: Take | None = None  # the current take, unless owed or failed
    takes: tuple[int, ...] = ()  # ids of all takes, the earliest first
    lengthens: Take | None = None  # the take that a continued reply continues
    author_id: int | None = None  # Discord user id of the person who wrote it
    message_id: int | None = None  # Discord message of the person's line
    answers_id: int | None = None  # the turn that a reply answers
    also_answers: tuple[int, ...] = ()  # later turns that it answers too
    heard_by: frozenset[str] | None = None  # characters whose minds have it, if not all
    listener_id: int | None = None  # user who reads a whispered reply
    fault: str | None = None  # the sentence shown for a failed turn
    undone_at: int | None = None  # moment of its undo, in microseconds since 1970

    @property
    def public(self) -> bool:
        """True if everyone reads it in the channel."""
        return self.kind in PUBLIC

    @property
    def answered(self) -> tuple[int, ...]:
        """The ids of the turns that this one answers, in order."""
        return (*((self.answers_id,) if self.answers_id else ()), *self.also_answers)

    def is_heard_by(self, character: str) -> bool:
        """Return whether this character's mind has the turn. It always has the character's own."""
        return self.heard_by is None or character in self.heard_by or character == self.speaker


@dataclass(frozen=True, slots=True)
class NewLine:
    """A person's contribution before it is stored.

    `kind` is a line, a reply or narration that a game master writes, a setting or a whisper. Only
    a line has a message of the person's own.
    """

    author_id: int | None
    speaker: str
    message_id: int | None
    text: str
    beats: tuple[PublicBeat, ...]
    kind: TurnKind = TurnKind.LINE
    heard_by: frozenset[str] | None = None  # characters whose minds have it, if not all
