"""What a character may know of a scene, in the order it learnt it. Its prompt is made from this and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import action, public, speech, thought
from bot.her.mind import Heard, Line, Own, Sheet, Surroundings
from bot.her.people import beats_of
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.library.scenario import Character, Example, Scenario
    from bot.scenes.turn import Turn


def sheet(scenario: Scenario, character: Character) -> Sheet:
    """Return what this mind knows before the first turn: all the scenario tells it, and no other's motivation."""
    return Sheet(
        character=character.name,
        book=scenario.book,
        profile=character.profile,
        background=scenario.background,
        scenario="\n\n".join(dict.fromkeys(part for part in (scenario.setting, scenario.opening) if part)),
        others=tuple(
            (other.name, other.known_as or other.profile)
            for other in scenario.characters
            if other.name != character.name
        ),
        motivation=character.motivation,
    )


def heard(character: str, turns: Iterable[Turn]) -> tuple[Heard, ...]:
    """Return the turns as this character's mind has them: its own with its thoughts, of others only what is public."""
    return tuple(_heard(character, turn) for turn in turns if turn.take is not None)


def _heard(character: str, turn: Turn) -> Heard:
    beats = turn.take.beats if turn.take else ()
    if turn.kind is TurnKind.NARRATION:
        return Surroundings(" ".join(beat.text for beat in public(beats)))
    if turn.speaker == character:
        return Own(beats)
    return Line(turn.speaker, public(beats))


def examples(character: Character) -> tuple[Heard, ...]:
    """Return the character's worked exchanges as if they had been earlier turns, for stand-in models."""
    return tuple(piece for example in character.examples for piece in _exchange(example))


def _exchange(example: Example) -> tuple[Heard, Heard]:
    speaker, _, words = example.cue.partition(":")
    own = (thought(example.thought), action(example.action), speech(example.speech))
    return Line(speaker.strip(), beats_of(words.strip())), Own(own)
