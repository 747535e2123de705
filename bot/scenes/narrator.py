"""What the environment does, told by the model: one to three sentences that never say what a character does or says.

HER was never trained to speak as the environment, so this is a plain question, and its answer is read with distrust.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bot.errors import EmptyReply
from bot.her.beats import select_public, speech
from bot.her.reply_parser import ReplyParser
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import mentioned, normal, spoken_names
from bot.library.scenario import NARRATOR
from bot.scenes import mind
from bot.scenes.questions import Question, ask_engine, describe_latest
from bot.scenes.reply_generation import GeneratedReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

MOST_SENTENCES: Final = 3
_ATTEMPTS = 3
_MANNER = """\
You are the narrator of a scene of {title}. In one to three sentences, in the language of the scene, tell what happens \
around the people in it next: light, weather, sounds, things, passers-by. Never tell what any of these does, says, \
thinks or feels, and don't name them: {names}. Nobody speaks. Write the sentences and nothing else."""
_GRAMMAR = r"""
root ::= sentence (" " sentence){0,2}
sentence ::= [^<>:\n.!?。！？"“”«»„「」*]{8,240} [.!?。！？]
"""
_SENTENCE = re.compile(r".+?(?:[.!?…]+(?=\s|\Z)|[。！？]+|\Z)", re.DOTALL)
_SPOKEN = re.compile(r"[\"“”„«»「」『』:：]")


async def generate_narration(
    performance: ReplyGenerator, scene: Scene, turns: Sequence[Turn]
) -> GeneratedReply:
    """Return what the environment does after `turns`. Raises NoWords where the model tells only of the characters,
    and EngineError."""
    raw = ""
    for _ in range(_ATTEMPTS):
        question = _question(scene, turns, performance.new_seed())
        raw = await ask_engine(performance.engine, scene, question)
        if told := filter_narration(scene, turns, raw):
            return GeneratedReply((speech(told),), raw, question.seed, 0)
    raise EmptyReply(
        "The model found nothing to tell that isn't a character's own doing: write the narration yourself."
    )


def filter_narration(scene: Scene, turns: Sequence[Turn], raw: str) -> str:
    """Return those of the first sentences of an answer in which nobody of the cast and none of the people who have
    spoken is named, nobody is quoted, and none of the model's planning is left."""
    people = tuple({turn.speaker for turn in turns if turn.author_id is not None})
    others = (*(character.name for character in scene.scenario.characters), *people)
    parser = ReplyParser(NARRATOR, others, prefilled=False)
    parser.feed(raw)
    told = " ".join(
        " ".join(beat.text for beat in select_public(parser.close().beats)).replace("*", "").split()
    )
    sentences = (found.group().strip() for found in _SENTENCE.finditer(told))
    return " ".join(
        [one for one in sentences if one and not _dictates(scene, people, one)][:MOST_SENTENCES]
    )


def _dictates(scene: Scene, people: Sequence[str], sentence: str) -> bool:
    names = spoken_names(scene.scenario.characters) | {
        normal(name): name for name in people if normal(name)
    }
    return bool(mentioned(sentence, names)) or bool(_SPOKEN.search(sentence))


def _question(scene: Scene, turns: Sequence[Turn], seed: int) -> Question:
    told = describe_latest(scene, turns)
    return Question(
        name="narrator",
        manner=_MANNER.format(
            title=sanitise_name(scene.scenario.title),
            names=", ".join(sanitise_name(part.character) for part in scene.parts),
        ),
        about=f"Where and when:\n{mind.describe_setting(scene.scenario, turns)}\n\n"
        f"What was last said and done:\n\n{told or 'Nothing yet.'}\n\nWhat happens around them next?",
        max_tokens=200,
        seed=seed,
        grammar=_GRAMMAR.lstrip(),
    )
