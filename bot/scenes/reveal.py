"""Who gets to see private beats. The only place where a private beat becomes one that may be posted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from bot.her.beats import Beat, BeatKind, PrivateBeat, PublicBeat


class Destination(StrEnum):
    """Where private beats of one kind go; the values are stored in the database and typed by game masters."""

    SPOILER = "spoiler"  # into the channel, under spoiler bars
    GM = "gm"  # into the game masters' direct messages
    OFF = "off"  # nowhere; they stay stored


class Audience(StrEnum):
    """Who reads a revealed beat."""

    CHANNEL = "channel"
    GM = "gm"


@dataclass(frozen=True, slots=True)
class Revealed:
    """A private beat together with the decision that frees it for one audience. Made by RevealPolicy, or for a GM
    who asks in private (`release_to_gm`), and nowhere else."""

    beat: PrivateBeat
    audience: Audience


@dataclass(frozen=True, slots=True)
class RevealPolicy:
    """Where thoughts and planning of a scene go. Both private to begin with."""

    thoughts: Destination = Destination.GM
    planning: Destination = Destination.GM

    def where(self, kind: BeatKind) -> Destination:
        """Return where private beats of this kind go."""
        return self.planning if kind is BeatKind.PLANNING else self.thoughts

    def toggled(self, kind: BeatKind) -> RevealPolicy:
        """Return the policy with this kind made public where it was private, private (the GM's) where it was public."""
        return self.with_(
            kind, Destination.GM if self.where(kind) is Destination.SPOILER else Destination.SPOILER
        )

    def with_(self, kind: BeatKind, where: Destination) -> RevealPolicy:
        """Return the policy with private beats of this kind going there."""
        return (
            replace(self, planning=where)
            if kind is BeatKind.PLANNING
            else replace(self, thoughts=where)
        )

    def freed(self, beats: tuple[Beat, ...], audience: Audience) -> tuple[Revealed, ...]:
        """Return the private beats that this policy shows to that audience, in order."""
        wanted = Destination.SPOILER if audience is Audience.CHANNEL else Destination.GM
        private = (beat for beat in beats if isinstance(beat, PrivateBeat))
        return tuple(
            Revealed(beat, audience) for beat in private if self.where(beat.kind) is wanted
        )

    def shown(self, beats: tuple[Beat, ...]) -> tuple[PublicBeat | Revealed, ...]:
        """Return what this policy shows to the channel, in order: the public beats, and the private ones it frees."""
        return tuple(
            Revealed(beat, Audience.CHANNEL) if isinstance(beat, PrivateBeat) else beat
            for beat in beats
            if not isinstance(beat, PrivateBeat) or self.where(beat.kind) is Destination.SPOILER
        )


def release_to_gm(beats: tuple[Beat, ...]) -> tuple[Revealed, ...]:
    """Return all private beats, freed for a game master who asked to see them in private."""
    return tuple(Revealed(beat, Audience.GM) for beat in beats if isinstance(beat, PrivateBeat))


def drop_known_private(beats: tuple[Beat, ...], before: tuple[Beat, ...]) -> tuple[Beat, ...]:
    """Return the beats of a reply that went on from `before` without the private ones it began with. Two thoughts side
    by side may have become one meanwhile; blanks don't count."""
    known = {
        kind: "".join(_squeezed(beat) for beat in before if beat.kind is kind) for kind in BeatKind
    }
    left: list[Beat] = []
    for beat in beats:
        if isinstance(beat, PrivateBeat):
            there, text = known[beat.kind], _squeezed(beat)
            known[beat.kind] = there.removeprefix(text) if there.startswith(text) else ""
            if there.startswith(text):
                continue
            left.append(
                PrivateBeat(beat.kind, _behind(beat.text, len(there)))
                if text.startswith(there)
                else beat
            )
        else:
            left.append(beat)
    return tuple(left)


def _squeezed(beat: Beat) -> str:
    return "".join(beat.text.split())


def _behind(text: str, letters: int) -> str:
    """Return what stands in a text behind so many letters that are no blanks."""
    places = [place for place, letter in enumerate(text) if not letter.isspace()]
    return text[places[letters] :] if letters < len(places) else ""
