"""The guided tour: the steps that the page suggests, and those already completed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.library.scenario import Scenario
    from bot.tryout.bridge.live_discord import LiveDiscord
    from bot.tryout.demo_server import DemoServer

_KNOWN = {"pride-and-prejudice": ("Mr Bennet", "Elizabeth Bennet", "You sent for me, Papa?")}


@dataclass(frozen=True, slots=True)
class GuidedTour:
    """The suggested scenario, part and first line."""

    scenario: str  # its id
    title: str
    part: str
    line: str

    @classmethod
    def for_scenario(cls, scenario: Scenario) -> GuidedTour:
        """Return the tour for a scenario."""
        names = [character.name for character in scenario.characters]
        addressed, part, words = _KNOWN.get(
            scenario.id, (names[0], names[-1], "Good evening. May I join you?")
        )
        return cls(scenario.id, scenario.title, part, f"@{addressed} {words}")

    @property
    def channel(self) -> str:
        """Return the name of the channel to play in."""
        plain = self.title.lower().replace("'", "").replace("’", "")
        return re.sub(r"\W+", "-", plain).strip("-")[:100] or "stage"


async def take_step(step: str, path: GuidedTour, demo: DemoServer) -> None:
    """Do one step for the visitor, as the person in question. Raises KeyError if it is unknown."""
    gm, player, stage = demo.gm.member, demo.player.member, demo.stage
    steps: dict[str, Callable[[], Awaitable[object]]] = {
        "start": lambda: gm.slash(stage, "scene start", scenario=path.scenario),
        "join": lambda: player.slash(stage, "cast join", character=path.part),
        "speak": lambda: player.send(stage, path.line),
        "reveal": lambda: gm.slash(stage, "reveal thoughts"),
    }
    await steps[step]()


def find_completed_steps(discord: LiveDiscord, demo: DemoServer) -> list[str]:
    """Return the steps that have been completed in any way."""
    messages = demo.messages()
    people = {person.id for person in demo.people}
    commands = {one.command_name for one in discord.backend.interactions.values() if one.responded}
    done = {
        "start": any(message.author_id not in people for message in messages),
        "join": "cast" in commands,
        "speak": any(message.author_id in people for message in messages),
        "answer": any(message.webhook_id for message in messages),
        "reveal": "reveal" in commands,
        "menu": "Show thoughts" in commands,
    }
    return [step for step, over in done.items() if over]
