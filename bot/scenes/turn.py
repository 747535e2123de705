"""Turns and takes: what was contributed to a scene, and the alternative generations of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from bot.her.beats import Beat


class TurnKind(StrEnum):
    """What a turn is; the values are stored in the database."""

    LINE = "line"  # a person's line, as a character or under their own name
    REPLY = "reply"  # a character's, by the model
    NARRATION = "narration"  # the environment's
    SETTING = "setting"  # the game master moved the scene; `speaker` is what of it changed: Scene, Time or Place
    WHISPER = "whisper"  # heard by one mind and no channel: what is whispered to it, or what it whispers back


PUBLIC: Final = frozenset({TurnKind.LINE, TurnKind.REPLY, TurnKind.NARRATION, TurnKind.SETTING})
"""The kinds of turns that stand in the channel, where everyone reads them."""


class TurnState(StrEnum):
    """How far a turn has come; the values are stored in the database."""

    THINKING = "thinking"  # owed: stored before the model was asked, taken up again after a restart
    DONE = "done"
    FAILED = "failed"  # no usable reply came; may be tried again
    HIDDEN = "hidden"  # taken out of the story: its message was deleted, or the history was cleared


@dataclass(frozen=True, slots=True)
class Take:
    """One generation of a turn, or what a person said."""

    id: int
    number: int  # from 1
    beats: tuple[Beat, ...]
    raw: str  # what the model wrote, its prefill put back, or what the person typed
    seed: int | None = None  # None for a person's

    def __repr__(self) -> str:
        return f"Take(id={self.id}, number={self.number}, {len(self.beats)} beats)"


@dataclass(frozen=True, slots=True)
class Turn:
    """One contribution to a scene, with its current take."""

    id: int  # ascending within the database; a scene's turns are told in this order
    scene_id: int
    kind: TurnKind
    speaker: str  # a character's name, or a person's display name at the time
    state: TurnState
    created_at: datetime
    take: Take | None = None  # None while thinking, or failed
    takes: tuple[int, ...] = ()  # ids of all its takes, the earliest first
    lengthens: Take | None = (
        None  # for a reply that is being lengthened, or just was: what it goes on from
    )
    author_id: int | None = None  # Discord user id of the person who spoke
    message_id: int | None = None  # Discord message the person spoke in
    answers_id: int | None = None  # for a reply: the turn it answers
    also_answers: tuple[int, ...] = ()  # later turns that the same reply answers
    heard_by: frozenset[str] | None = None  # characters whose minds have it; None: all of them
    listener_id: int | None = None  # for a whispered reply: the person who hears it
    fault: str | None = None  # for a failed turn: the sentence people were told
    undone_at: int | None = (
        None  # for a hidden turn that can be restored: when, in microseconds since 1970
    )

    @property
    def public(self) -> bool:
        """Whether it stands in the channel."""
        return self.kind in PUBLIC

    @property
    def answered(self) -> tuple[int, ...]:
        """The turns that this one answers, in order."""
        return (*((self.answers_id,) if self.answers_id else ()), *self.also_answers)

    def heard(self, character: str) -> bool:
        """Whether that character's mind has this turn. A mind has what the character itself said."""
        return self.heard_by is None or character in self.heard_by or character == self.speaker
