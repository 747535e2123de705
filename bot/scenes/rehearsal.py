"""A scene that a program plays, without a store and without Discord."""

from __future__ import annotations

import random
import secrets
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from bot.engine.reproducible_engine import ReproducibleEngine
from bot.errors import UserInputError
from bot.her.player_text import parse_player_text
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import map_spoken_names
from bot.library.normalise import normalise
from bot.scenes import cast
from bot.scenes.recollection import Recollection
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.scene import AT_TERMINAL, Part, Place, Scene
from bot.scenes.turn import Take, Turn, TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import Engine
    from bot.her.beats import Beat, PublicBeat
    from bot.library.scenario import Scenario
    from bot.scenes.reply_generation import Progress

_numbers = count(1)


class Rehearsal:
    """One run of a scenario on a started engine. The same `seed` gives the same replies.

    Use it from one task at a time, because the turns of a scene have an order.
    """

    def __init__(
        self,
        scenario: Scenario,
        engine: Engine,
        *,
        limits: ReplyLimits | None = None,
        seed: int | None = None,
    ) -> None:
        chance = secrets.SystemRandom() if seed is None else random.Random(seed)  # noqa: S311 - reproducible on purpose
        self._generator = ReplyGenerator(
            engine if seed is None else ReproducibleEngine(engine),
            limits or ReplyLimits(),
            lambda: chance.getrandbits(32),
        )
        self._scene = Scene(
            id=-next(_numbers),  # negative, so never the id of a stored scene
            place=Place(AT_TERMINAL, -1),
            scenario=scenario,
            gm_ids=(AT_TERMINAL,),
            parts=tuple(Part(character.name) for character in scenario.characters),
            started_at=datetime.now(UTC),
        )
        self._story: list[Turn] = []
        self._first: dict[str, int] = {}  # by character, the first turn in its prompt

    @property
    def story(self) -> tuple[Turn, ...]:
        """The turns so far, in order."""
        return tuple(self._story)

    def say(self, speaker: str, text: str) -> None:
        """Add a line of a character, by any of its names, or of another person.

        Text between asterisks is an action. Raises UserInputError if the line is empty.
        """
        names = map_spoken_names(self._scene.scenario.characters)
        name = names.get(normalise(speaker)) or sanitise_name(speaker)
        beats: Sequence[PublicBeat] = parse_player_text(text, name)
        if not beats:
            raise UserInputError(f"The line of {name} is empty. Enter some words.")
        self._add(TurnKind.LINE, name, tuple(beats), text)

    async def reply(self, character: str, *, progress: Progress | None = None) -> tuple[Beat, ...]:
        """Generate a character's next turn, add it to the story and return its beats in order.

        `progress` is awaited with the public beats that are final so far, each time there are
        more. Raises NameNotFound, EmptyReply and EngineError.
        """
        name = cast.find_part(self._scene, character).character
        assembled = await self._generator.assemble(self._scene, name, self._recall(name))
        if assembled.recollection.cut:
            self._first[name] = assembled.recollection.turns[0].id
        generated = await self._generator.reply(
            self._scene, name, assembled, progress or _ignore_progress
        )
        self._add(TurnKind.REPLY, name, generated.beats, generated.raw)
        return generated.beats

    def _recall(self, name: str) -> Recollection:
        first = self._first.get(name, 0)
        heard = (turn for turn in self._story if turn.is_heard_by(name))
        return Recollection(
            turns=tuple(turn for turn in heard if turn.id >= first),
            people=tuple(dict.fromkeys(turn.speaker for turn in self._story)),
            cut=first > 0,
        )

    def _add(self, kind: TurnKind, speaker: str, beats: tuple[Beat, ...], raw: str) -> None:
        number = len(self._story) + 1
        take = Take(number, 1, beats, raw)
        self._story.append(
            Turn(number, self._scene.id, kind, speaker, TurnState.DONE, datetime.now(UTC), take)
        )


async def _ignore_progress(_beats: tuple[PublicBeat, ...]) -> None:
    """Show no progress."""
