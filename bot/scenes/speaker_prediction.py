"""Predicts who speaks next after a line that addresses no character.

The engine predicts. If it can't, or is too slow, a rule of thumb decides.
"""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.engine.protocol import Sampling
from bot.errors import EngineError
from bot.her.beats import select_public
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import find_mentioned, map_spoken_names
from bot.library.normalise import normalise
from bot.scenes.questions import Question, ask_engine, describe_latest
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import Engine
    from bot.scenes.scene import Part, Scene
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)

PREDICTION_TIMEOUT: Final = 5.0
"""The time in seconds that the engine has for a prediction."""

NOBODY: Final = "Nobody"
_MAX_SILENCE = 6  # turns; a longer silence makes a character no likelier to speak
_MANNER = """\
You direct a scene of {title}. Read who is on stage, and the latest words and acts. Choose who \
speaks next: the one who would most naturally answer now. Choose {nobody} if the line ended a \
matter, or if no one would answer it. Answer with one name from the list only."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A scene before its next turn: its public turns, and a seed for random choices."""

    scene: Scene
    story: Sequence[Turn]
    seed: int

    @property
    def last_speaker(self) -> str:
        """The last speaker, who never speaks next."""
        return self.story[-1].speaker if self.story else ""

    @property
    def by_person(self) -> bool:
        """True if a person wrote the last turn."""
        return bool(self.story) and self.story[-1].author_id is not None

    @property
    def on_stage(self) -> list[Part]:
        """The parts that might speak next, played by the model or by people."""
        return [
            part
            for part in self.scene.parts
            if not (part.absent or part.rests or part.character == self.last_speaker)
        ]

    @property
    def candidates(self) -> list[str]:
        """The model's characters that might speak next."""
        return [part.character for part in self.on_stage if part.answers]


async def choose_next_speaker(
    engine: Engine, moment: Moment, seconds: float = PREDICTION_TIMEOUT
) -> str | None:
    """Return the model's character that speaks next.

    No character speaks if it is a player's turn, or if no answer is likely. The rule of thumb
    decides if the engine does not answer within `seconds`.
    """
    if not moment.candidates:
        return None
    if not engine.info.stand_in:
        try:
            async with asyncio.timeout(seconds):
                answer = await predict_speaker(engine, moment)
        except (EngineError, TimeoutError) as error:
            _log.info("Scene %d: the engine predicted no speaker: %s", moment.scene.id, error)
        else:
            if answer is not None:
                return answer if answer in moment.candidates else None
    return guess_speaker(moment)


async def predict_speaker(engine: Engine, moment: Moment) -> str | None:
    """Return the name that the engine predicts, which may be NOBODY.

    The answer may contain no name. Raises EngineError.
    """
    names = [part.character for part in moment.on_stage]
    listed = "\n".join(f"- {sanitise_name(name)}" for name in (*names, NOBODY))
    question = Question(
        name="director",
        manner=_MANNER.format(title=sanitise_name(moment.scene.scenario.title), nobody=NOBODY),
        about=f"Who may speak next:\n{listed}\n\nThe latest words and acts:\n\n"
        f"{describe_latest(moment.scene, moment.story)}\n\nWho speaks next?",
        max_tokens=32,
        seed=moment.seed,
        grammar=build_choice_grammar((*map(sanitise_name, names), NOBODY)),
        sampling=Sampling(temperature=0.0),
    )
    return parse_speaker(await ask_engine(engine, moment.scene, question), moment)


def build_choice_grammar(names: Sequence[str]) -> str:
    """Return the GBNF grammar that accepts one of these names."""
    literals = (name.replace("\\", "\\\\").replace('"', '\\"') for name in names)
    return "root ::= " + " | ".join(f'"{literal}"' for literal in literals) + "\n"


def parse_speaker(answer: str, moment: Moment) -> str | None:
    """Return the name in an answer, which may be NOBODY.

    If the answer is more than a name, the first name in it counts.
    """
    on_stage = [part.character for part in moment.on_stage]
    spoken = map_spoken_names([moment.scene.character(name) for name in on_stage])
    spoken |= {normalise(sanitise_name(name)): name for name in on_stage}
    spoken.setdefault(normalise(NOBODY), NOBODY)
    if whole := spoken.get(normalise(answer.strip(" \n.:*\"'-"))):
        return whole
    words = f" {normalise(answer)} "
    found = [
        (words.index(f" {name} "), -len(name), meant)
        for name, meant in spoken.items()
        if f" {name} " in words
    ]
    return min(found)[2] if found else None


def guess_speaker(moment: Moment) -> str | None:
    """Return the speaker by rule of thumb, if any.

    A character mentioned in the last line speaks. If the line mentions only a player's character,
    that player will speak. Otherwise talkative characters and those that were silent for long are
    likelier. A person's line is always answered if any character is talkative at all. A
    character's line is answered only as often as the answering character is talkative.
    """
    candidates = moment.candidates
    named = _list_mentioned(moment)
    if any(part.character in named for part in moment.on_stage):
        return next((name for name in named if name in candidates), None)
    talkativeness = {name: moment.scene.character(name).talkativeness for name in candidates}
    weights = [talkativeness[name] * (1 + _count_silent_turns(moment, name)) for name in candidates]
    if not any(weights):
        return None
    chance = random.Random(moment.seed)  # noqa: S311 - not for security
    (name,) = chance.choices(candidates, weights)
    return name if moment.by_person or chance.random() < talkativeness[name] else None


def _list_mentioned(moment: Moment) -> tuple[str, ...]:
    """Return the characters whose full or first name is in the last line."""
    last = moment.story[-1] if moment.story else None
    if last is None or last.take is None:
        return ()
    words = " ".join(beat.text for beat in select_public(last.take.beats))
    return find_mentioned(words, map_spoken_names(moment.scene.scenario.characters))


def _count_silent_turns(moment: Moment, name: str) -> int:
    """Return how many turns ago this character spoke, at most `_MAX_SILENCE`."""
    recent = moment.story[: -_MAX_SILENCE - 1 : -1]
    said = (
        turn.speaker == name and turn.kind in (TurnKind.LINE, TurnKind.REPLY) for turn in recent
    )
    return next((ago for ago, spoke in enumerate(said) if spoke), _MAX_SILENCE)
