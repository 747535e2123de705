"""Acts: each plays a share of the hostile replies in its own channel, while people act on them."""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.posting.reply_draft import CURSOR
from bot.scenes.reply_generation import THOUGHT_ENDS
from tests.engine.scripted_engine import Scripted
from tests.her.sample_replies import CHARACTER, OTHERS, SECRET

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.engine.protocol import Request
    from tests.loopback import Channel, DiscordMessage, Person
    from tests.play.harness import Evening
    from tests.proof.hostile_replies import Hostile

DARCY = OTHERS[0]
INITIALS = dict(zip(OTHERS, "DJO", strict=True))
WHISPERED = f" <role_action>nods</role_action>{SECRET}Y."
NARRATED = (
    f"<think>She is {SECRET}P.</think>Rain falls. "
    f"<role_thinking>It is {SECRET}0.</role_thinking> A door creaks."
)
PATIENCE = 60.0  # seconds for a reply on a busy machine
ASKED = re.compile(r"Act (\d+), (whispered)?")


@dataclass
class Act:
    """A channel, its player, the settings of `/reveal`, and the replies still to play."""

    number: int
    stage: Channel
    player: Person
    where: tuple[str, str]
    replies: deque[Hostile]
    asked: int = 0
    directed: int = 0
    last: Scripted | None = None
    done: Counter[str] = field(default_factory=Counter)

    @property
    def spoils(self) -> bool:
        """Whether thoughts or planning are in the channel under spoilers."""
        return "spoiler" in self.where

    def line(self, text: str) -> str:
        """Return a player's line, from which the engine knows the act."""
        return f"Act {self.number}, {text}?"


@dataclass
class EngineScript:
    """The engine's script for every act. It also checks each prompt for secrets."""

    acts: list[Act]
    replies_of_others: int = 0
    leaks: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> Scripted:
        mind = request.mind.split("/", 1)[1]
        self.leaks += [
            f"{mind}: {secret}" for secret in find_misplaced_secrets(mind, request.prompt.text)
        ]
        number, whispered = ASKED.findall(request.prompt.text)[-1]
        act = self.acts[int(number)]
        match mind:
            case "(narrator)":
                return Scripted(NARRATED)
            case "(director)":
                act.directed += 1
                return Scripted(OTHERS[1])
            case _ if mind == CHARACTER:
                return self._reply(act, request, whispered=bool(whispered))
            case _:
                self.replies_of_others += 1
                thought = f"<role_thinking>My {SECRET}{INITIALS[mind]}.</role_thinking>"
                return Scripted(f"{mind} hides.</system_thinking>{mind}: {thought}Indeed.")

    def _reply(self, act: Act, request: Request, *, whispered: bool) -> Scripted:
        if (
            THOUGHT_ENDS in request.stop and act.last is not None
        ):  # the game master reads the character's mind
            return act.last
        act.asked += 1
        act.last = self._next(act, more=request.planning_tokens is None)
        return Scripted(act.last.text + WHISPERED, act.last.chunk) if whispered else act.last

    def _next(self, act: Act, *, more: bool) -> Scripted:
        """Return the act's next reply. After the last one, return a valid one."""
        if not act.replies:
            return Scripted(
                f"She is {SECRET}P.</system_thinking>"
                f"<role_thinking>{SECRET}0</role_thinking>Enough."
            )
        hostile = act.replies.popleft()
        return hostile.more if more else hostile.scripted


def find_misplaced_secrets(mind: str, prompt: str) -> list[str]:
    """Return the secrets in a prompt that this mind must not know."""
    own = "0123456789PZVY" if mind == CHARACTER else "M" + INITIALS[mind] if mind in OTHERS else ""
    own += "NW" * (mind == DARCY)
    of_others = [f"{SECRET}M of {name}" for name in OTHERS if name != mind]
    return [secret for secret in find_secrets(prompt) if secret[-1] not in own] + [
        one for one in of_others if one in prompt
    ]


def find_secrets(text: str) -> list[str]:
    """Return the secrets in a text, each with the letter or digit of its owner."""
    return re.findall(rf"{SECRET}\w", text)


async def begin(evening: Evening, act: Act) -> None:
    """Start the scene, with a note and a whisper that only Darcy knows."""
    gm, stage = evening.gm, act.stage
    await gm.slash(stage, "scene start", scenario="ball")
    await gm.slash(stage, "reveal thoughts", where=act.where[0])
    await gm.slash(stage, "reveal planning", where=act.where[1])
    await gm.slash(stage, "gm note", text=f"The {SECRET}N.", character=DARCY)
    await gm.slash(stage, "gm whisper", text=f"The {SECRET}W.", character=DARCY)


async def ask(evening: Evening, act: Act, text: str, place: Channel | None = None) -> None:
    """Address the character, and wait until its whole reply or a notice shows."""
    before, there = act.asked, place or act.stage
    act.player.say(there, f"@{CHARACTER} {act.line(text)}")
    await evening.discord.until(lambda: act.asked > before, PATIENCE, "a reply that is asked for")

    def over() -> bool:
        last = latest(there.history)
        return (
            last is not None
            and last.author is not act.player.user
            and not last.content.endswith(CURSOR)
        )

    await evening.discord.until(over, PATIENCE, "a reply or a notice")


def latest(history: Iterable[DiscordMessage], *, persona: bool = False) -> DiscordMessage | None:
    """Return the latest message that everyone can see."""
    standing = (
        each for each in reversed(list(history)) if not each.deleted and each.only_for is None
    )
    return next((each for each in standing if each.webhook or not persona), None)
