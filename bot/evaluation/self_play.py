"""Given-circumstance acting: every character of a scene is played by the engine under test.

The procedure follows CoSER's: the first listed speaker opens, a director predicts each next
speaker, the environment has its own voice, and the scene ends after 20 rounds or when the
director ends it, but not before the sixth round. An invalid prediction is replaced by a random
major character or the environment. Our prompts have their own wording, and the director reads
the whole conversation in one message instead of one message per turn.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bot.errors import EmptyReply, UserInputError
from bot.her.beats import BeatKind, select_public
from bot.her.layout import Message, Role
from bot.library.normalise import normalise
from bot.library.scenario import NARRATOR
from bot.scenes.rehearsal import Rehearsal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import Engine
    from bot.evaluation.acting_scenes import ActingScene
    from bot.evaluation.chat_model import ChatModel
    from bot.her.beats import Beat
    from bot.scenes.reply_generation import ReplyLimits

MAX_ROUNDS: Final = 20
END: Final = "<END CHAT>"
_FIRST_END = 5  # index of the first round after which the director may end the scene

_DIRECTOR = """\
You direct a role-play. After each message you decide who speaks next.

The possible speakers are: {speakers}. "{narrator}" stands for events around the characters.

The scene:
{setting}

Choose the speaker who would most naturally act or speak next, never the one who has just spoken. \
If the conversation has reached its end, choose {end}. Answer with one name from the list or \
{end}, and nothing else."""

_NARRATOR = """\
You describe the environment of a role-play. Describe how the surroundings change after the latest \
messages: places, things, sounds, weather, minor figures and crowds. Write one to three sentences \
in the style and language of the scene. Never write words or actions of these characters: {major}.

The scene:
{setting}"""


@dataclass(frozen=True, slots=True)
class ActedLine:
    """One message of a conversation: public text only."""

    speaker: str
    text: str


@dataclass(slots=True)
class Conversation:
    """A conversation of self-play and what went wrong in it."""

    lines: list[ActedLine] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)  # the characters' raw replies
    seconds: list[float] = field(default_factory=list)  # generation time of each raw reply
    invalid_predictions: int = 0
    empty_replies: int = 0
    ended_by_director: bool = False

    @property
    def rounds(self) -> int:
        """The number of messages by characters, without the environment's."""
        return sum(line.speaker != NARRATOR for line in self.lines)

    def text(self) -> str:
        """Return the conversation as a judge reads it."""
        return "\n\n".join(f"{line.speaker}: {line.text}" for line in self.lines)

    def to_json(self) -> dict[str, Any]:
        """Return the conversation as JSON data."""
        return {
            "lines": [[line.speaker, line.text] for line in self.lines],
            "replies": self.replies,
            "seconds": self.seconds,
            "invalid_predictions": self.invalid_predictions,
            "empty_replies": self.empty_replies,
            "ended_by_director": self.ended_by_director,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Conversation:
        """Return the conversation that `to_json` wrote."""
        lines = [ActedLine(speaker, text) for speaker, text in data["lines"]]
        return cls(**{**data, "lines": lines})


@dataclass(frozen=True, slots=True)
class Company:
    """The models that act one scene together."""

    actors: Engine
    director: ChatModel
    narrator: ChatModel


async def act(
    scene: ActingScene,
    company: Company,
    *,
    seed: int,
    rounds: int = MAX_ROUNDS,
    limits: ReplyLimits | None = None,
) -> Conversation:
    """Return the conversation of one scene. The same seed gives the same one.

    Raises EngineError.
    """
    chance = random.Random(seed)  # noqa: S311 - reproducible choices
    rehearsal = Rehearsal(scene.scenario, company.actors, seed=seed, limits=limits)
    conversation = Conversation()
    speaker = scene.speakers[0]
    for number in range(rounds):
        if speaker == NARRATOR:
            text = await _narrate(scene, company.narrator, conversation, chance.getrandbits(31))
            if text:
                _say(rehearsal, text)
                conversation.lines.append(ActedLine(NARRATOR, text))
        else:
            await _perform(rehearsal, speaker, conversation)
        if number == rounds - 1:
            break
        chosen = await _predict(scene, company.director, conversation, chance.getrandbits(31))
        if chosen == END and number >= _FIRST_END:
            conversation.ended_by_director = True
            break
        if chosen is None or chosen in (END, speaker):
            conversation.invalid_predictions += 1
            others = {*scene.major_characters, NARRATOR} - {speaker}
            chosen = chance.choice(sorted(others or set(scene.speakers) - {speaker}))
        speaker = chosen
    return conversation


async def _perform(rehearsal: Rehearsal, speaker: str, conversation: Conversation) -> None:
    began = time.monotonic()
    try:
        beats = await rehearsal.reply(speaker)
    except EmptyReply:
        conversation.empty_replies += 1
        return
    conversation.seconds.append(time.monotonic() - began)
    take = rehearsal.story[-1].take
    conversation.replies.append(take.raw if take else "")
    conversation.lines.append(ActedLine(speaker, public_text(beats)))


def _say(rehearsal: Rehearsal, text: str) -> None:
    try:
        rehearsal.say(NARRATOR, text)
    except UserInputError:  # nothing but punctuation: the characters have nothing to read
        return


def public_text(beats: Sequence[Beat]) -> str:
    """Return what others see and hear of a reply, with actions in parentheses as in CoSER."""
    public = select_public(tuple(beats))
    parts = (
        f"({beat.text.strip()})" if beat.kind is BeatKind.ACTION else beat.text.strip()
        for beat in public
    )
    return " ".join(part for part in parts if part)


async def _predict(
    scene: ActingScene, director: ChatModel, conversation: Conversation, seed: int
) -> str | None:
    """Return a speaker, END, or None if the answer names neither."""
    manner = _DIRECTOR.format(
        speakers=", ".join(scene.speakers),
        narrator=NARRATOR,
        setting=scene.scenario.setting,
        end=END,
    )
    question = f"{conversation.text() or '(No one has spoken yet.)'}\n\nWho is next?"
    answer = await director.answer(_chat(manner, question), max_tokens=32, seed=seed)
    if END.strip("<>") in answer:
        return END
    names = {normalise(name): name for name in scene.speakers}
    first = normalise(answer.split("\n", 1)[0].split(":", 1)[0].strip(" .*\"'"))
    if first in names:
        return names[first]
    words = f" {normalise(answer)} "
    named = [name for key, name in names.items() if f" {key} " in words]
    return named[0] if len(named) == 1 else None


async def _narrate(
    scene: ActingScene, narrator: ChatModel, conversation: Conversation, seed: int
) -> str:
    manner = _NARRATOR.format(
        major=", ".join(scene.major_characters or scene.speakers), setting=scene.scenario.setting
    )
    question = f"{conversation.text() or '(The scene begins.)'}\n\nDescribe the environment now."
    answer = await narrator.answer(_chat(manner, question), max_tokens=200, seed=seed)
    return " ".join(answer.removeprefix(f"{NARRATOR}:").split())


def _chat(manner: str, question: str) -> tuple[Message, Message]:
    return Message(Role.SYSTEM, manner), Message(Role.USER, question)
