"""Beats, the smallest pieces of a take. A beat's type says who may see it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias


class BeatKind(StrEnum):
    """The kind of a beat. The values are stored in the database."""

    SPEECH = "speech"
    ACTION = "action"
    THOUGHT = "thought"  # role thinking: the character's thoughts
    PLANNING = "planning"  # system thinking: the model's plan for playing the part


PublicKind: TypeAlias = Literal[BeatKind.SPEECH, BeatKind.ACTION]
PrivateKind: TypeAlias = Literal[BeatKind.THOUGHT, BeatKind.PLANNING]


@dataclass(frozen=True, slots=True)
class PublicBeat:
    """Speech or action. Everyone in the scene hears or sees it."""

    kind: PublicKind
    text: str

    def __post_init__(self) -> None:
        if self.kind not in (BeatKind.SPEECH, BeatKind.ACTION):
            raise ValueError(f"A public beat is speech or action, not {self.kind}")


@dataclass(frozen=True, slots=True, repr=False)
class PrivateBeat:
    """Thought, planning or text of doubtful kind. Its `repr` never shows the text."""

    kind: PrivateKind
    text: str

    def __post_init__(self) -> None:
        if self.kind not in (BeatKind.THOUGHT, BeatKind.PLANNING):
            raise ValueError(f"A private beat is thought or planning, not {self.kind}")

    def __repr__(self) -> str:
        return f"PrivateBeat({self.kind.value}, {len(self.text)} characters)"


Beat: TypeAlias = PublicBeat | PrivateBeat


def speech(text: str) -> PublicBeat:
    """Return a speech beat."""
    return PublicBeat(BeatKind.SPEECH, text)


def action(text: str) -> PublicBeat:
    """Return an action beat. `text` has no asterisks or tags."""
    return PublicBeat(BeatKind.ACTION, text)


def thought(text: str) -> PrivateBeat:
    """Return a role-thinking beat."""
    return PrivateBeat(BeatKind.THOUGHT, text)


def planning(text: str) -> PrivateBeat:
    """Return a system-thinking beat."""
    return PrivateBeat(BeatKind.PLANNING, text)


def select_public(beats: tuple[Beat, ...]) -> tuple[PublicBeat, ...]:
    """Return the public beats among `beats`, in order."""
    return tuple(beat for beat in beats if isinstance(beat, PublicBeat))


def select_private(beats: tuple[Beat, ...]) -> tuple[PrivateBeat, ...]:
    """Return the private beats among `beats`, in order."""
    return tuple(beat for beat in beats if isinstance(beat, PrivateBeat))
