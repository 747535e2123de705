"""Who speaks next though nobody was asked: the engine's guess, and a rule of thumb where it can't or is slow."""

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
from bot.library.name_matching import mentioned, normal, spoken_names
from bot.scenes.questions import Question, ask_engine, describe_latest
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import Engine
    from bot.scenes.scene import Part, Scene
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)

PREDICTION_TIMEOUT: Final = 5.0
"""Seconds the engine has to say who speaks next."""

NOBODY: Final = "Nobody"
_LONGEST_SILENCE = 6  # turns: who was silent for longer wants to speak no more than that
_MANNER = """\
You direct a scene of {title}. You are told who is on stage and what was last said and done, and you say who speaks \
next: the name of the one who would most naturally answer now. Say {nobody} where the line was the end of a matter, \
or where nobody would answer it. Answer with one name from the list and nothing else."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a scene stands when somebody may speak: its public turns, and a seed for what is left to chance."""

    scene: Scene
    story: Sequence[Turn]
    seed: int

    @property
    def spoke(self) -> str:
        """Who spoke last; never the one to speak next."""
        return self.story[-1].speaker if self.story else ""

    @property
    def by_person(self) -> bool:
        """Whether a person had the last word, or a game master wrote it."""
        return bool(self.story) and self.story[-1].author_id is not None

    @property
    def on_stage(self) -> list[Part]:
        """Who might speak next, whoever plays them."""
        return [
            part
            for part in self.scene.parts
            if not (part.absent or part.rests or part.character == self.spoke)
        ]

    @property
    def candidates(self) -> list[str]:
        """The model's characters that might speak next."""
        return [part.character for part in self.on_stage if part.answers]


async def choose_next_speaker(
    engine: Engine, moment: Moment, patience: float = PREDICTION_TIMEOUT
) -> str | None:
    """Return the model's character that speaks next; None for nobody, or where it is a player's turn.

    After `patience` seconds without an answer the rule of thumb decides.
    """
    if not moment.candidates:
        return None
    if not engine.info.stand_in:
        try:
            async with asyncio.timeout(patience):
                answer = await predict_speaker(engine, moment)
        except (EngineError, TimeoutError) as error:
            _log.info(
                "Scene %d: the engine did not say who speaks next: %s", moment.scene.id, error
            )
        else:
            if answer is not None:
                return answer if answer in moment.candidates else None
    return guess_speaker(moment)


async def predict_speaker(engine: Engine, moment: Moment) -> str | None:
    """Return whom the engine names, NOBODY included; None where that can't be made out. Raises EngineError."""
    names = [part.character for part in moment.on_stage]
    listed = "\n".join(f"- {sanitise_name(name)}" for name in (*names, NOBODY))
    question = Question(
        name="director",
        manner=_MANNER.format(title=sanitise_name(moment.scene.scenario.title), nobody=NOBODY),
        about=f"Who may speak next:\n{listed}\n\nWhat was last said and done:\n\n{describe_latest(moment.scene, moment.story)}"
        "\n\nWho speaks next?",
        max_tokens=32,
        seed=moment.seed,
        grammar=build_choice_grammar((*map(sanitise_name, names), NOBODY)),
        sampling=Sampling(temperature=0.0),
    )
    return parse_speaker(await ask_engine(engine, moment.scene, question), moment)


def build_choice_grammar(names: Sequence[str]) -> str:
    """Return the GBNF that lets one of these names through and nothing else."""
    literals = (name.replace("\\", "\\\\").replace('"', '\\"') for name in names)
    return "root ::= " + " | ".join(f'"{literal}"' for literal in literals) + "\n"


def parse_speaker(answer: str, moment: Moment) -> str | None:
    """Return whom an answer names, NOBODY included: the name it consists of, or else the first that stands in it."""
    on_stage = [part.character for part in moment.on_stage]
    spoken = spoken_names([moment.scene.character(name) for name in on_stage])
    spoken |= {normal(sanitise_name(name)): name for name in on_stage}
    spoken.setdefault(normal(NOBODY), NOBODY)
    if whole := spoken.get(normal(answer.strip(" \n.:*\"'-"))):
        return whole
    words = f" {normal(answer)} "
    found = [
        (words.index(f" {name} "), -len(name), meant)
        for name, meant in spoken.items()
        if f" {name} " in words
    ]
    return min(found)[2] if found else None


def guess_speaker(moment: Moment) -> str | None:
    """Return who is likely to speak by rule of thumb: whoever the last line mentions, else the talkative and the
    long silent; nobody where it mentions only a player's character, whose player will speak. A person's line is
    always answered by somebody who speaks unasked at all; another character's only as often as the one who would
    answer is talkative."""
    candidates = moment.candidates
    mentioned_here = [part for part in moment.on_stage if part.character in _mentioned(moment)]
    if mentioned_here:
        return next((name for name in _mentioned(moment) if name in candidates), None)
    eager = {name: moment.scene.character(name).talkativeness for name in candidates}
    weights = [eager[name] * (1 + _silence(moment, name)) for name in candidates]
    if not any(weights):
        return None
    chance = random.Random(moment.seed)  # noqa: S311 - a play, not a secret
    (name,) = chance.choices(candidates, weights)
    return name if moment.by_person or chance.random() < eager[name] else None


def _mentioned(moment: Moment) -> tuple[str, ...]:
    """Who is named in the last line, as people are named without being addressed: their full or first name."""
    last = moment.story[-1] if moment.story else None
    if last is None or last.take is None:
        return ()
    words = " ".join(beat.text for beat in select_public(last.take.beats))
    return mentioned(words, spoken_names(moment.scene.scenario.characters))


def _silence(moment: Moment, name: str) -> int:
    """How many turns ago this character spoke, at most `_LONGEST_SILENCE`."""
    recent = moment.story[: -_LONGEST_SILENCE - 1 : -1]
    said = (
        turn.speaker == name and turn.kind in (TurnKind.LINE, TurnKind.REPLY) for turn in recent
    )
    return next((ago for ago, spoke in enumerate(said) if spoke), _LONGEST_SILENCE)
