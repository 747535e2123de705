"""Acts: each a stage of its own, on which a share of the hostile replies is played and people do things about them."""

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
    from tests.loopback import Channel, Message, Person
    from tests.play.harness import Evening
    from tests.proof.hostile_replies import Hostile

DARCY = OTHERS[0]
INITIALS = dict(zip(OTHERS, "DJO", strict=True))
WHISPERED = f" <role_action>nods</role_action>{SECRET}Y."
TOLD = f"<think>She is {SECRET}P.</think>Rain falls. <role_thinking>It is {SECRET}0.</role_thinking> A door creaks."
PATIENCE = 60.0  # seconds for a reply, on a machine that is busy with other things
ASKED = re.compile(r"Act (\d+), (whispered)?")


@dataclass
class Act:
    """A stage, who plays there, where thoughts and planning go, and the replies that are still to come."""

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
        """Whether something private is in the channel, under spoiler bars."""
        return "spoiler" in self.where

    def line(self, text: str) -> str:
        """What is said in this act, so that the engine knows where it is."""
        return f"Act {self.number}, {text}?"


@dataclass
class Bill:
    """What the engine writes in which act. Every prompt is looked into as it comes."""

    acts: list[Act]
    asides: int = 0
    leaks: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> Scripted:
        mind = request.mind.split("/", 1)[1]
        self.leaks += [f"{mind}: {secret}" for secret in misplaced(mind, request.prompt.text)]
        number, whispered = ASKED.findall(request.prompt.text)[-1]
        act = self.acts[int(number)]
        match mind:
            case "(narrator)":
                return Scripted(TOLD)
            case "(director)":
                act.directed += 1
                return Scripted(OTHERS[1])
            case _ if mind == CHARACTER:
                return self._reply(act, request, whispered=bool(whispered))
            case _:
                self.asides += 1
                thought = f"<role_thinking>My {SECRET}{INITIALS[mind]}.</role_thinking>"
                return Scripted(f"{mind} hides.</system_thinking>{mind}: {thought}Indeed.")

    def _reply(self, act: Act, request: Request, *, whispered: bool) -> Scripted:
        if THOUGHT_ENDS in request.stop and act.last is not None:  # a look into the mind
            return act.last
        act.asked += 1
        act.last = self._next(act, more=request.planning_tokens is None)
        return Scripted(act.last.text + WHISPERED, act.last.chunk) if whispered else act.last

    def _next(self, act: Act, *, more: bool) -> Scripted:
        """The next reply of the act; when all have been given, one without a fault."""
        if not act.replies:
            return Scripted(
                f"She is {SECRET}P.</system_thinking><role_thinking>{SECRET}0</role_thinking>Enough."
            )
        hostile = act.replies.popleft()
        return hostile.more if more else hostile.scripted


def misplaced(mind: str, prompt: str) -> list[str]:
    """The secrets in a prompt that this mind must not know."""
    own = "0123456789PZVY" if mind == CHARACTER else "M" + INITIALS[mind] if mind in OTHERS else ""
    own += "NW" * (mind == DARCY)
    of_others = [f"{SECRET}M of {name}" for name in OTHERS if name != mind]
    return [secret for secret in found(prompt) if secret[-1] not in own] + [
        one for one in of_others if one in prompt
    ]


def found(text: str) -> list[str]:
    """The secrets in a text, each with the letter or digit that says whose it is."""
    return re.findall(rf"{SECRET}\w", text)


async def begin(evening: Evening, act: Act) -> None:
    """Start the scene, with what the game master alone knows in it."""
    gm, stage = evening.gm, act.stage
    await gm.slash(stage, "scene start", scenario="ball")
    await gm.slash(stage, "reveal thoughts", where=act.where[0])
    await gm.slash(stage, "reveal planning", where=act.where[1])
    await gm.slash(stage, "gm note", text=f"The {SECRET}N.", character=DARCY)
    await gm.slash(stage, "gm whisper", text=f"The {SECRET}W.", character=DARCY)


async def ask(evening: Evening, act: Act, text: str, place: Channel | None = None) -> None:
    """Say something to the character, and wait until its reply shows in full or has failed."""
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


def latest(history: Iterable[Message], *, persona: bool = False) -> Message | None:
    """The latest message that stands for everybody."""
    standing = (
        each for each in reversed(list(history)) if not each.deleted and each.only_for is None
    )
    return next((each for each in standing if each.webhook or not persona), None)
