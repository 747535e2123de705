"""The reveal decisions that are stored with a take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.her.beats import PrivateBeat
from bot.scenes.reveal import pair_destinations

if TYPE_CHECKING:
    from bot.her.beats import Beat, BeatKind
    from bot.scenes.reveal import Destination, RevealPolicy
    from bot.scenes.turn import Take


def decide(take: Take, policy: RevealPolicy) -> Take:
    """Return the take with a destination for each private beat.

    Beats that have one keep it. The others get the policy's.
    """
    destinations = (
        (earlier or policy.destination(beat.kind)) if isinstance(beat, PrivateBeat) else None
        for beat, earlier in pair_destinations(take.beats, take.destinations)
    )
    return replace(take, destinations=tuple(destinations))


def redirect(take: Take, kind: BeatKind, destination: Destination) -> Take:
    """Return the take with this destination for its private beats of this kind."""
    destinations = (
        destination if isinstance(beat, PrivateBeat) and beat.kind is kind else earlier
        for beat, earlier in pair_destinations(take.beats, take.destinations)
    )
    return replace(take, destinations=tuple(destinations))


def carry_destinations(take: Take, beats: tuple[Beat, ...]) -> tuple[Destination | None, ...]:
    """Return the destinations of beats that have the take's private beats, in the same order."""
    earlier = iter(
        [
            destination
            for beat, destination in pair_destinations(take.beats, take.destinations)
            if isinstance(beat, PrivateBeat)
        ]
    )
    return tuple(next(earlier, None) if isinstance(beat, PrivateBeat) else None for beat in beats)
