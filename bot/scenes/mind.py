"""The knowledge of one character of a scene, in the order it learned it.

A character's prompt is built only from this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.beats import action, select_public, speech, thought
from bot.her.layout import (
    REQUIREMENTS,
    CharacterSheet,
    EnvironmentLine,
    HeardItem,
    HeardLine,
    OwnTurn,
)
from bot.her.player_text import parse_player_text
from bot.library.scenario import NARRATOR
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bot.library.scenario import Character, Example, Scenario
    from bot.scenes.turn import Turn


SCENE = "Scene"
TIME = "Time"
PLACE = "Place"
"""The parts of a setting that may change. They are the speakers of such turns."""


def build_sheet(
    scenario: Scenario,
    character: Character,
    turns: Iterable[Turn] = (),
    *,
    requirements: str = "",
    memory: str = "",
) -> CharacterSheet:
    """Return the knowledge of this mind before the first turn, without the others' motivations.

    If the scene moved in `turns`, the sheet has the latest setting. `requirements` is the model's
    own Requirements section. If it is empty, the sheet has Aside's.
    """
    return CharacterSheet(
        character=character.name,
        book=scenario.book,
        description=character.description,
        profile=character.profile,
        experience=character.experience,
        background=scenario.background,
        memory=memory,
        scenario=describe_setting(scenario, turns),
        others=tuple(
            (other.name, other.known_as or other.profile)
            for other in scenario.characters
            if other.name != character.name
        ),
        motivation=character.motivation,
        requirements=requirements or REQUIREMENTS,
    )


def describe_setting(scenario: Scenario, turns: Iterable[Turn] = ()) -> str:
    """Return situation, time and place, from the scenario or from a game master's change."""
    original = dict.fromkeys(part for part in (scenario.setting, scenario.opening) if part)
    changes = {turn.speaker: _join_words(turn) for turn in turns if turn.kind is TurnKind.SETTING}
    situation = changes.get(SCENE, "\n\n".join(original))
    details = (f"{name}: {changes[name]}" for name in (TIME, PLACE) if name in changes)
    return "\n".join((situation, *details))


def build_history(
    character: str, turns: Iterable[Turn], notes: Sequence[str] = ()
) -> tuple[HeardItem, ...]:
    """Return the turns that this character heard, as its mind has them.

    Its own turns have their thoughts, those of others only public beats. `notes` come before the
    last turn, as the environment's words.
    """
    heard = [
        _convert(character, turn)
        for turn in turns
        if turn.take is not None and turn.is_heard_by(character)
    ]
    return (*heard[:-1], *map(EnvironmentLine, notes), *heard[-1:])


def select_public_line(turn: Turn) -> HeardLine | None:
    """Return a turn as everyone in the channel has it, if it is for everyone."""
    if turn.take is None or not turn.public:
        return None
    return HeardLine(turn.speaker, select_public(turn.take.beats))


def build_examples(character: Character) -> tuple[HeardItem, ...]:
    """Return the character's example exchanges as earlier turns, for stand-in models."""
    return tuple(item for example in character.examples for item in _build_exchange(example))


def _convert(character: str, turn: Turn) -> HeardItem:
    beats = turn.take.beats if turn.take else ()
    if turn.kind in (TurnKind.NARRATION, TurnKind.SETTING) or turn.speaker == NARRATOR:
        return EnvironmentLine(_join_words(turn))
    if turn.speaker == character:
        return OwnTurn(beats)
    if turn.kind is TurnKind.WHISPER:
        whispers = action(f"whispers to {character}, unheard by anyone else")
        return HeardLine(turn.speaker, (whispers, *select_public(beats)))
    return HeardLine(turn.speaker, select_public(beats))


def _join_words(turn: Turn) -> str:
    return " ".join(beat.text for beat in select_public(turn.take.beats if turn.take else ()))


def _build_exchange(example: Example) -> tuple[HeardItem, HeardItem]:
    speaker, _, words = example.cue.partition(":")
    own = (thought(example.thought), action(example.action), speech(example.speech))
    return HeardLine(speaker.strip(), parse_player_text(words.strip())), OwnTurn(own)
