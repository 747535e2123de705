"""Words memories: as a part of the prompt, and as the question that makes the model write one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.engine.protocol import Sampling
from bot.her.beats import BeatKind, select_public
from bot.her.layout import CharacterSheet, OwnTurn, build_conversation
from bot.her.reply_parser import ReplyParser
from bot.her.sanitise import sanitise_name, sanitise_text
from bot.scenes.mind import build_history
from bot.scenes.questions import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

FADED_LINES: Final = 6
"""The latest lines of a block of turns, used until the memory of the block is written."""

_FADED_LENGTH = 200  # characters of such a line
_SENTENCES = 6
_TOKENS = 220
_GRAMMAR = r"""
root ::= sentence (" "? sentence){0,5}
sentence ::= [^<>=\n.!?。！？]{8,300} [.!?。！？]
"""
_SENTENCE_END = re.compile(r"[.!?。！？](?=[^.!?。！？]*\Z)")
_MANNER = """\
You keep the memory of {character} in a scene of {title}. Read the passage, which {character} went \
through, and write {character}'s memory of it, in the third person, in the language of the \
passage, in at most {sentences} sentences: the events, words, promises and discoveries, and the \
thoughts and aims of {character}. Invent nothing. Write only the sentences."""


@dataclass(frozen=True, slots=True)
class _Phrases:
    remembers: str
    faded: str


_PHRASES: Final = {
    "en": _Phrases(
        "{character}'s memory of the story so far:",
        "The last words that {character} recalls of a part of it:",
    ),
    "zh": _Phrases("{character}记得的往事：", "其中一段，{character}只记得最后几句："),
}


def introduce_memory(character: str, language: str, text: str) -> str:
    """Return a mind's memory with its introduction, or an empty text if there is no memory."""
    if not text:
        return ""
    return f"{_find_phrases(language).remembers.format(character=character)}\n{text}"


def format_faded(character: str, language: str, turns: Sequence[Turn]) -> str:
    """Return the latest lines of a block of turns whose memory is not written."""
    lines = [line for turn in turns[-FADED_LINES:] if (line := _format_line(turn))]
    if not lines:
        return ""
    introduction = _find_phrases(language).faded.format(character=character)
    return "\n".join((introduction, *lines))


def ask_about_turns(scene: Scene, character: str, turns: Sequence[Turn], seed: int) -> Question:
    """Return the question for this character's memory of turns that it heard.

    The turns are as its mind has them: its own with their thoughts, others without.
    """
    others = tuple((other.name, "") for other in scene.scenario.characters)
    heard = build_history(character, turns)
    messages = build_conversation(CharacterSheet(character, others=others), heard)
    if heard and isinstance(heard[-1], OwnTurn):
        messages = messages[:-1]  # without the pause after it
    return _ask(scene, character, [message.text for message in messages], seed)


def ask_about_memories(scene: Scene, character: str, texts: Sequence[str], seed: int) -> Question:
    """Return the question for one memory that takes the place of several."""
    return _ask(scene, character, texts, seed)


def read_memory(answer: str) -> str:
    """Return the sentences of the model's answer, without planning and without a broken end."""
    parser = ReplyParser("", (), prefilled=False)
    parser.feed(answer)
    text = " ".join(
        beat.text for beat in select_public(parser.close().beats) if beat.kind is BeatKind.SPEECH
    )
    whole = " ".join(text.split())
    end = _SENTENCE_END.search(whole)
    return whole[: end.end()] if end else whole


def _ask(scene: Scene, character: str, passages: Sequence[str], seed: int) -> Question:
    name = sanitise_name(character)
    passage = "\n\n".join(filter(None, passages))
    return Question(
        name=f"memory of {name}",
        manner=_MANNER.format(
            character=name, title=sanitise_name(scene.scenario.title), sentences=_SENTENCES
        ),
        about=f"{passage}\n\nWrite {name}'s memory of this.",
        max_tokens=_TOKENS,
        seed=seed,
        grammar=_GRAMMAR.lstrip(),
        sampling=Sampling(temperature=0.3),
        background=True,
    )


def _format_line(turn: Turn) -> str:
    words = " ".join(
        f"*{beat.text}*" if beat.kind is BeatKind.ACTION else beat.text
        for beat in select_public(turn.take.beats if turn.take else ())
    )
    text = " ".join(sanitise_text(words).split())
    if len(text) > _FADED_LENGTH:
        text = f"{text[:_FADED_LENGTH]}…"
    return f"{sanitise_name(turn.speaker)}: {text}" if text else ""


def _find_phrases(language: str) -> _Phrases:
    return _PHRASES.get(language.partition("-")[0].casefold(), _PHRASES["en"])
