"""Decides who sees private beats. Only this module turns a private beat into one for posting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from bot.her.beats import Beat, BeatKind, PrivateBeat, PublicBeat


class Destination(StrEnum):
    """The destination of one kind of private beats.

    The values are stored in the database and typed by game masters.
    """

    SPOILER = "spoiler"  # the channel, in spoiler bars
    GM = "gm"  # the game masters' direct messages
    OFF = "off"  # no destination; the beats stay stored


class Audience(StrEnum):
    """The people who read a revealed beat."""

    CHANNEL = "channel"
    GM = "gm"


@dataclass(frozen=True, slots=True)
class Revealed:
    """A private beat together with the decision that releases it to one audience.

    Only RevealPolicy and `release_to_gm` make one.
    """

    beat: PrivateBeat
    audience: Audience


@dataclass(frozen=True, slots=True)
class RevealPolicy:
    """The destinations of a scene's thoughts and planning. Both start as the game masters'."""

    thoughts: Destination = Destination.GM
    planning: Destination = Destination.GM

    def destination(self, kind: BeatKind) -> Destination:
        """Return the destination of private beats of this kind."""
        return self.planning if kind is BeatKind.PLANNING else self.thoughts

    def toggled(self, kind: BeatKind) -> RevealPolicy:
        """Return the policy with this kind public if it was private, and private if it was public.

        Private means the game masters'.
        """
        is_public = self.destination(kind) is Destination.SPOILER
        return self.with_destination(kind, Destination.GM if is_public else Destination.SPOILER)

    def with_destination(self, kind: BeatKind, destination: Destination) -> RevealPolicy:
        """Return the policy with this destination for private beats of this kind."""
        if kind is BeatKind.PLANNING:
            return replace(self, planning=destination)
        return replace(self, thoughts=destination)

    def release(self, beats: tuple[Beat, ...], audience: Audience) -> tuple[Revealed, ...]:
        """Return the private beats that this policy shows to that audience, in order."""
        wanted = Destination.SPOILER if audience is Audience.CHANNEL else Destination.GM
        return tuple(
            Revealed(beat, audience)
            for beat in beats
            if isinstance(beat, PrivateBeat) and self.destination(beat.kind) is wanted
        )

    def select_for_channel(self, beats: tuple[Beat, ...]) -> tuple[PublicBeat | Revealed, ...]:
        """Return the public beats and the private ones that this policy releases, in order."""
        return tuple(
            Revealed(beat, Audience.CHANNEL) if isinstance(beat, PrivateBeat) else beat
            for beat in beats
            if not isinstance(beat, PrivateBeat)
            or self.destination(beat.kind) is Destination.SPOILER
        )


def release_to_gm(beats: tuple[Beat, ...]) -> tuple[Revealed, ...]:
    """Return all private beats, released to a game master who asked for them in private."""
    return tuple(Revealed(beat, Audience.GM) for beat in beats if isinstance(beat, PrivateBeat))


def drop_known_private(beats: tuple[Beat, ...], before: tuple[Beat, ...]) -> tuple[Beat, ...]:
    """Return the beats of a continued reply without the private ones of the reply `before`.

    Two neighbouring thoughts of `before` may have been merged into one. Whitespace is ignored.
    """
    known = {
        kind: "".join(_squeeze(beat) for beat in before if beat.kind is kind) for kind in BeatKind
    }
    kept: list[Beat] = []
    for beat in beats:
        if not isinstance(beat, PrivateBeat):
            kept.append(beat)
            continue
        old, text = known[beat.kind], _squeeze(beat)
        known[beat.kind] = old.removeprefix(text) if old.startswith(text) else ""
        if old.startswith(text):
            continue
        if text.startswith(old):
            beat = PrivateBeat(beat.kind, _skip_characters(beat.text, len(old)))
        kept.append(beat)
    return tuple(kept)


def _squeeze(beat: Beat) -> str:
    return "".join(beat.text.split())


def _skip_characters(text: str, number: int) -> str:
    """Return the text after its first `number` characters that are not whitespace."""
    places = [place for place, character in enumerate(text) if not character.isspace()]
    return text[places[number] :] if number < len(places) else ""
