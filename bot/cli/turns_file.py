"""Read the turns of a scene from a YAML list of `{speaker, text}` or `{speaker, raw}`.

`raw` is a reply as the model wrote it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bot.documents import (
    Fault,
    Tree,
    combine_faults,
    parse,
    read_text,
    validate,
)
from bot.errors import DocumentError
from bot.her import reply_parser
from bot.her.beats import speech
from bot.her.player_text import parse_player_text
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import map_spoken_names
from bot.library.normalise import normalise
from bot.library.scenario import NARRATOR
from bot.scenes.turn import Take, Turn, TurnKind, TurnState

if TYPE_CHECKING:
    from pathlib import Path

    from bot.her.beats import Beat
    from bot.library.scenario import Scenario

_TURNS = "turns"


class TurnEntry(BaseModel):
    """One turn of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    speaker: str = Field(
        min_length=1, max_length=200, description=f"the speaker, or {NARRATOR} for narration"
    )
    text: str | None = Field(default=None, description="a line as a person typed it")
    raw: str | None = Field(default=None, description="a reply as the model wrote it")

    @model_validator(mode="after")
    def _one_of_both(self) -> TurnEntry:
        if (self.text is None) == (self.raw is None):
            raise ValueError(
                "a turn needs either `text` (a person's line) or `raw` (a model's reply). Keep one"
            )
        return self


class _File(BaseModel):
    turns: tuple[TurnEntry, ...]


def read_turns(path: Path, scenario: Scenario) -> tuple[Turn, ...]:
    """Return the turns of the file at `path`, in order, as turns of a scene of `scenario`.

    Aliases of characters are accepted. Raises DocumentError with file and line.
    """
    try:
        checked = validate(_as_group(parse(read_text(path), str(path))), _File)
    except Fault as fault:
        checked = [fault]
    if isinstance(checked, list):
        raise combine_faults(checked, DocumentError) from None
    names = map_spoken_names(scenario.characters)
    return tuple(
        _turn(number, entry, names, scenario) for number, entry in enumerate(checked.turns, start=1)
    )


def _as_group(tree: Tree) -> Tree:
    """Wrap the file's list in a mapping, because documents are mappings."""
    if tree.data is not None and not isinstance(tree.data, list):
        raise Fault(
            tree.position(()), "the file is not a list. Start each turn with `- speaker: …`"
        )
    positions = {(_TURNS, *path): position for path, position in tree.positions.items()}
    keys = {(_TURNS, *path): position for path, position in tree.keys.items()}
    return Tree({_TURNS: tree.data or []}, {(): tree.position(()), **positions}, keys)


def _turn(number: int, entry: TurnEntry, names: dict[str, str], scenario: Scenario) -> Turn:
    speaker = names.get(normalise(entry.speaker)) or sanitise_name(entry.speaker)
    kind = TurnKind.LINE if entry.raw is None else TurnKind.REPLY
    if normalise(speaker) == normalise(NARRATOR):
        speaker, kind = NARRATOR, TurnKind.NARRATION
    beats = _beats(entry, speaker, kind, scenario)
    return Turn(
        id=number,
        scene_id=0,
        kind=kind,
        speaker=speaker,
        state=TurnState.DONE,
        created_at=datetime.now(UTC),
        take=Take(number, 1, beats, entry.text or entry.raw or ""),
    )


def _beats(entry: TurnEntry, speaker: str, kind: TurnKind, scenario: Scenario) -> tuple[Beat, ...]:
    if entry.raw is not None:
        others = tuple(
            character.name for character in scenario.characters if character.name != speaker
        )
        return reply_parser.parse_reply(entry.raw, speaker, others).beats
    text = entry.text or ""
    return (
        (speech(text.strip()),) if kind is TurnKind.NARRATION else parse_player_text(text, speaker)
    )
