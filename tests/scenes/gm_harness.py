"""A theatre harness with the actions of game masters and casts."""

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
from tests.scenes.scene_harness import open_harness

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.engine.scripted_engine import Script
    from tests.scenes.scene_harness import TheatreHarness


@dataclass
class GmHarness:
    """A theatre harness with GM actions, story events and notes. Dice always roll their maximum."""

    harness: TheatreHarness
    gm_actions: GmActions
    story_events: StoryEvents
    gm_notes: GmNotes

    async def turns(self, scene: Scene) -> list[Turn]:
        """Return the stored turns of a story, whispers included."""
        return await self.harness.store.turns(scene.id)

    def prompts(self, character: str) -> list[str]:
        """Return the prompts that the engine got for this character, in order."""
        asked = self.harness.engine.requests
        return [request.prompt.text for request in asked if request.mind.endswith(f"/{character}")]


def words(turn: Turn) -> str:
    """Return the public text of a turn."""
    return " ".join(beat.text for beat in select_public(turn.take.beats)) if turn.take else ""


@asynccontextmanager
async def open_gm_harness(folder: Path, *script: Script) -> AsyncIterator[GmHarness]:
    """Open a harness with its database in `folder`. To open it again is a restart."""
    async with open_harness(folder, *script) as harness:
        seeds = count(1)
        generator = ReplyGenerator(harness.engine, ReplyLimits(), lambda: next(seeds))

        def now() -> datetime:
            return datetime.now(UTC)

        yield GmHarness(
            harness,
            GmActions(harness.theatre, harness.store),
            StoryEvents(harness.theatre, harness.store, harness.delivery, now, lambda most: most),
            GmNotes(harness.theatre, harness.store, generator, now),
        )
