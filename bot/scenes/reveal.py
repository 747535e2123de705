"""Decides who sees private beats. Only this module turns a private beat into one for posting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from bot.her.beats import Beat, BeatKind, PrivateBeat, PublicBeat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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
    PLAYER = "player"  # one player, whose id the beat carries


@dataclass(frozen=True, slots=True)
class Revealed:
    """A private beat together with the decision that releases it to one audience.

    Only RevealPolicy, `release_to_gm` and `release_to_player` make one. The audience of one player
    is that player only.
    """

    beat: PrivateBeat
    audience: Audience
    reader_id: int | None = None  # the player, if the audience is one player

    def __post_init__(self) -> None:
        """Raise ValueError if the audience is one player and no player is named."""
        if (self.audience is Audience.PLAYER) is (self.reader_id is None):
            raise ValueError("A beat for one player needs that player, and no other beat has one.")


@dataclass(frozen=True, slots=True)
class RevealPolicy:
    """The destinations of a scene's thoughts and planning. Both start as the game masters'."""

    thoughts: Destination = Destination.GM
    planning: Destination = Destination.GM

    def destination(self, kind: BeatKind) -> Destination:
        """Return the destination of private beats of this kind."""
        return self.planning if kind is BeatKind.PLANNING else self.thoughts

    def toggle(self, kind: BeatKind) -> RevealPolicy:
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

    def release(
        self,
        beats: tuple[Beat, ...],
        audience: Audience,
        decided: Sequence[Destination | None] = (),
    ) -> tuple[Revealed, ...]:
        """Return the private beats that go to that audience, in order.

        `decided` are the destinations that were stored with the beats' take. The policy decides
        for the other beats. Raises ValueError for the audience of one player.
        """
        if audience is Audience.PLAYER:
            raise ValueError("Only `release_to_player` opens beats to one player.")
        wanted = Destination.SPOILER if audience is Audience.CHANNEL else Destination.GM
        return tuple(
            Revealed(beat, audience)
            for beat, destination in pair_destinations(beats, decided)
            if isinstance(beat, PrivateBeat)
            and (destination or self.destination(beat.kind)) is wanted
        )

    def select_for_channel(
        self, beats: tuple[Beat, ...], decided: Sequence[Destination | None] = ()
    ) -> tuple[PublicBeat | Revealed, ...]:
        """Return the public beats and the released private ones, in order. See `release`."""
        selected: list[PublicBeat | Revealed] = []
        for beat, destination in pair_destinations(beats, decided):
            if not isinstance(beat, PrivateBeat):
                selected.append(beat)
            elif (destination or self.destination(beat.kind)) is Destination.SPOILER:
                selected.append(Revealed(beat, Audience.CHANNEL))
        return tuple(selected)


def release_to_gm(beats: tuple[Beat, ...]) -> tuple[Revealed, ...]:
    """Return all private beats, released to a game master who asked for them in private."""
    return tuple(Revealed(beat, Audience.GM) for beat in beats if isinstance(beat, PrivateBeat))


def release_to_player(beats: tuple[Beat, ...], reader_id: int) -> tuple[Revealed, ...]:
    """Return the thoughts that a game master or a roll opened to one player. Planning stays."""
    return tuple(
        Revealed(beat, Audience.PLAYER, reader_id)
        for beat in beats
        if isinstance(beat, PrivateBeat) and beat.kind is BeatKind.THOUGHT
    )


def pair_destinations(
    beats: Sequence[Beat], decided: Sequence[Destination | None]
) -> Iterator[tuple[Beat, Destination | None]]:
    """Return each beat with its stored destination, if it has one."""
    return zip(beats, (*decided, *[None] * (len(beats) - len(decided))), strict=False)
