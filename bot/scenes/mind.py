"""What a character may know of a scene, in the order it learnt it. Its prompt is made from this and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import action, select_public, speech, thought
from bot.her.layout import CharacterSheet, EnvironmentLine, HeardItem, HeardLine, OwnTurn
from bot.her.player_text import parse_player_text
from bot.library.scenario import NARRATOR
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bot.library.scenario import Character, Example, Scenario
    from bot.scenes.turn import Turn


SCENE, TIME, PLACE = "Scene", "Time", "Place"
"""What of a setting may change; the speakers of such turns."""


def build_sheet(
    scenario: Scenario, character: Character, turns: Iterable[Turn] = ()
) -> CharacterSheet:
    """Return what this mind knows before the first turn: all the scenario tells it, and no other's motivation.

    Where the scene was moved in `turns`, its setting is what it is since then.
    """
    return CharacterSheet(
        character=character.name,
        book=scenario.book,
        profile=character.profile,
        background=scenario.background,
        scenario=describe_setting(scenario, turns),
        others=tuple(
            (other.name, other.known_as or other.profile)
            for other in scenario.characters
            if other.name != character.name
        ),
        motivation=character.motivation,
    )


def describe_setting(scenario: Scenario, turns: Iterable[Turn] = ()) -> str:
    """Return what is going on, where and when: as the scenario says, or as a game master has set it since."""
    told = "\n\n".join(dict.fromkeys(part for part in (scenario.setting, scenario.opening) if part))
    changed = {turn.speaker: _words(turn) for turn in turns if turn.kind is TurnKind.SETTING}
    lines = (f"{what}: {changed[what]}" for what in (TIME, PLACE) if what in changed)
    return "\n".join((changed.get(SCENE, told), *lines))


def build_history(
    character: str, turns: Iterable[Turn], notes: Sequence[str] = ()
) -> tuple[HeardItem, ...]:
    """Return the turns as this character's mind has them: its own with its thoughts, of others only what is public,
    and nothing it did not hear. `notes` stand before the last of them, as what the environment tells it."""
    told = [
        _heard(character, turn) for turn in turns if turn.take is not None and turn.heard(character)
    ]
    return (*told[:-1], *map(EnvironmentLine, notes), *told[-1:])


def _heard(character: str, turn: Turn) -> HeardItem:
    beats = turn.take.beats if turn.take else ()
    if turn.kind in (TurnKind.NARRATION, TurnKind.SETTING) or turn.speaker == NARRATOR:
        return EnvironmentLine(_words(turn))
    if turn.speaker == character:
        return OwnTurn(beats)
    if turn.kind is TurnKind.WHISPER:
        return HeardLine(
            turn.speaker,
            (action(f"whispers to {character}, unheard by anyone else"), *select_public(beats)),
        )
    return HeardLine(turn.speaker, select_public(beats))


def select_public_line(turn: Turn) -> HeardLine | None:
    """Return a turn as everyone in the channel has it; None where it isn't for everyone."""
    return (
        HeardLine(turn.speaker, select_public(turn.take.beats))
        if turn.take and turn.public
        else None
    )


def _words(turn: Turn) -> str:
    return " ".join(beat.text for beat in select_public(turn.take.beats if turn.take else ()))


def build_examples(character: Character) -> tuple[HeardItem, ...]:
    """Return the character's worked exchanges as if they had been earlier turns, for stand-in models."""
    return tuple(piece for example in character.examples for piece in _exchange(example))


def _exchange(example: Example) -> tuple[HeardItem, HeardItem]:
    speaker, _, words = example.cue.partition(":")
    own = (thought(example.thought), action(example.action), speech(example.speech))
    return HeardLine(speaker.strip(), parse_player_text(words.strip())), OwnTurn(own)
