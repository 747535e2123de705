"""A scene that a program plays: nothing is stored, nobody is shown anything."""

from __future__ import annotations

import random
import secrets
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from bot.errors import UserInputError
from bot.her.player_text import parse_player_text
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import spoken_names
from bot.library.normalise import normal
from bot.scenes import cast
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
    """One run of `scenario` on an engine that has been started. With a `seed` the same is said each time.

    For one task at a time: what is said in a scene has an order.
    """

    def __init__(
        self,
        scenario: Scenario,
        engine: Engine,
        *,
        limits: ReplyLimits | None = None,
        seed: int | None = None,
    ) -> None:
        chance = secrets.SystemRandom() if seed is None else random.Random(seed)  # noqa: S311 - it shall come again
        self._performance = ReplyGenerator(
            engine, limits or ReplyLimits(), lambda: chance.getrandbits(32)
        )
        self._scene = Scene(
            id=-next(_numbers),  # no scene that is stored
            place=Place(AT_TERMINAL, -1),
            scenario=scenario,
            gm_ids=(AT_TERMINAL,),
            parts=tuple(Part(character.name) for character in scenario.characters),
            started_at=datetime.now(UTC),
        )
        self._story: list[Turn] = []

    @property
    def story(self) -> tuple[Turn, ...]:
        """Everything said so far, in order."""
        return tuple(self._story)

    def say(self, speaker: str, text: str) -> None:
        """Have somebody say `text`, in which `*sighs*` is something done: a character, by any name it has, or somebody
        else. Raises UserInputError where nothing was said."""
        name = spoken_names(self._scene.scenario.characters).get(normal(speaker)) or sanitise_name(
            speaker
        )
        beats: Sequence[PublicBeat] = parse_player_text(text)
        if not beats:
            raise UserInputError(f"{name} said nothing: give the words.")
        self._add(TurnKind.LINE, name, tuple(beats), text)

    async def reply(self, character: str, *, progress: Progress | None = None) -> tuple[Beat, ...]:
        """Return what a character says, does and thinks next, in order; it is part of the story from then on.

        `progress` is awaited with the public beats that have settled so far, whenever there are more.
        Raises UnknownName, NoWords where it said nothing, and EngineError.
        """
        name = cast.find_part(self._scene, character).character
        performed = await self._performance.reply(
            self._scene, name, self.story, progress or _nobody
        )
        self._add(TurnKind.REPLY, name, performed.beats, performed.raw)
        return performed.beats

    def _add(self, kind: TurnKind, speaker: str, beats: tuple[Beat, ...], raw: str) -> None:
        number = len(self._story) + 1
        take = Take(number, 1, beats, raw)
        self._story.append(
            Turn(number, self._scene.id, kind, speaker, TurnState.DONE, datetime.now(UTC), take)
        )


async def _nobody(_beats: tuple[PublicBeat, ...]) -> None:
    """Tell nobody."""
