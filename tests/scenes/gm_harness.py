"""A house with everything that game masters and casts do in it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from bot.her.beats import select_public
from bot.scenes.gm_actions import GmActions
from bot.scenes.gm_notes import GmNotes
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.story_events import StoryEvents
from tests.scenes.harness import a_house

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.engine.scripted_engine import Script
    from tests.scenes.harness import House


@dataclass
class Directed:
    """What stands on a house's theatre, for its game masters and players. Dice fall as high as they can."""

    house: House
    direction: GmActions
    telling: StoryEvents
    prompter: GmNotes

    async def turns(self, scene: Scene) -> list[Turn]:
        """Everything that is stored of a story, whispers too."""
        return await self.house.store.turns(scene.id)

    def prompts(self, character: str) -> list[str]:
        """What the engine was asked for this character, in order."""
        asked = self.house.engine.requests
        return [request.prompt.text for request in asked if request.mind.endswith(f"/{character}")]


def words(turn: Turn) -> str:
    """What a turn says in public, as one text."""
    return " ".join(beat.text for beat in select_public(turn.take.beats)) if turn.take else ""


@asynccontextmanager
async def a_directed_house(folder: Path, *script: Script) -> AsyncIterator[Directed]:
    """A house with its direction; entering it again is a restart."""
    async with a_house(folder, *script) as house:
        seeds = count(1)
        performance = ReplyGenerator(house.engine, ReplyLimits(), lambda: next(seeds))

        def now() -> datetime:
            return datetime.now(UTC)

        yield Directed(
            house,
            GmActions(house.theatre, house.store),
            StoryEvents(house.theatre, house.store, house.stage, now, lambda most: most),
            GmNotes(house.theatre, house.store, performance, now),
        )
