"""Generates narrations: one to three sentences that are never about the characters.

HER models were not trained to speak as the environment. The narrator is therefore a plain question,
and unsuitable sentences are removed from its answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bot.errors import EmptyReply
from bot.her.beats import select_public, speech
from bot.her.reply_parser import ReplyParser
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import find_mentioned, map_spoken_names
from bot.library.normalise import normalise
from bot.library.scenario import NARRATOR
from bot.scenes import mind
from bot.scenes.questions import Question, ask_engine, describe_latest
from bot.scenes.reply_generation import GeneratedReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.recollection import Recollection
    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.scene import Scene

MAX_SENTENCES: Final = 3
_ATTEMPTS = 3
_MANNER = """\
You are the narrator of a scene of {title}. In one to three sentences, in the language of the \
scene, describe the next event around the people in it: light, weather, sounds, things, \
passers-by. Never describe the acts, words, thoughts or feelings of these people, and don't name \
them: {names}. No one speaks. Write only the sentences."""
_GRAMMAR = r"""
root ::= sentence (" " sentence){0,2}
sentence ::= [^<>:\n.!?。！？"“”«»„「」*]{8,240} [.!?。！？]
"""
_SENTENCE = re.compile(r".+?(?:[.!?…]+(?=\s|\Z)|[。！？]+|\Z)", re.DOTALL)
_SPOKEN = re.compile(r"[\"“”„«»「」『』:：]")


async def generate_narration(
    generator: ReplyGenerator, scene: Scene, known: Recollection
) -> GeneratedReply:
    """Return a narration of events after the turns of `known`, which everyone heard.

    Raises EmptyReply if every attempt is only about the characters, and EngineError.
    """
    raw = ""
    for _ in range(_ATTEMPTS):
        question = _build_question(scene, known, generator.new_seed())
        raw = await ask_engine(generator.engine, scene, question)
        if narration := filter_narration(scene, known.people, raw):
            return GeneratedReply((speech(narration),), raw, question.seed)
    raise EmptyReply("The model wrote only about the characters. Write the narration yourself.")


def filter_narration(scene: Scene, spoke: Sequence[str], raw: str) -> str:
    """Return the first suitable sentences of an answer.

    A sentence is suitable if it names no character and no person who has spoken, contains no
    quotation, and is not part of the model's planning.
    """
    people = tuple(name for name in spoke if name != NARRATOR)
    others = (*(character.name for character in scene.scenario.characters), *people)
    parser = ReplyParser(NARRATOR, others, prefilled=False)
    parser.feed(raw)
    text = " ".join(
        " ".join(beat.text for beat in select_public(parser.close().beats)).replace("*", "").split()
    )
    sentences = (found.group().strip() for found in _SENTENCE.finditer(text))
    return " ".join(
        [one for one in sentences if one and not _is_about_people(scene, people, one)][
            :MAX_SENTENCES
        ]
    )


def _is_about_people(scene: Scene, people: Sequence[str], sentence: str) -> bool:
    names = map_spoken_names(scene.scenario.characters) | {
        normalise(name): name for name in people if normalise(name)
    }
    return bool(find_mentioned(sentence, names)) or bool(_SPOKEN.search(sentence))


def _build_question(scene: Scene, known: Recollection, seed: int) -> Question:
    latest = describe_latest(scene, known.turns)
    return Question(
        name="narrator",
        manner=_MANNER.format(
            title=sanitise_name(scene.scenario.title),
            names=", ".join(sanitise_name(part.character) for part in scene.parts),
        ),
        about=f"Where and when:\n{mind.describe_setting(scene.scenario, known.settings)}\n\n"
        f"The latest words and acts:\n\n{latest or 'Nothing yet.'}\n\n"
        "Describe the next event around them.",
        max_tokens=200,
        seed=seed,
        grammar=_GRAMMAR.lstrip(),
    )
