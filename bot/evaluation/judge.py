"""A judge finds flaws in a conversation, one dimension at a time, as in CoSER's evaluation."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from bot.errors import EngineError
from bot.her.layout import Message, Role

if TYPE_CHECKING:
    from bot.evaluation.acting_scenes import ActingScene
    from bot.evaluation.chat_model import ChatModel
    from bot.evaluation.self_play import Conversation

_ATTEMPTS: Final = 3
_MAX_TOKENS: Final = 4096
MAX_SEVERITY: Final = 5
_THOUGHTS = re.compile(r"\[[^\[\]]*\]")  # CoSER's references have thoughts in brackets
PROMPT_VERSION: Final = 1
"""Part of the journal's key. Increase it with every change to a prompt here."""


class Dimension(StrEnum):
    """The four dimensions of given-circumstance acting."""

    STORYLINE_CONSISTENCY = "Storyline Consistency"
    ANTHROPOMORPHISM = "Anthropomorphism"
    CHARACTER_FIDELITY = "Character Fidelity"
    STORYLINE_QUALITY = "Storyline Quality"


_CRITERIA: Final = {
    Dimension.STORYLINE_CONSISTENCY: (
        "how well the simulated conversation agrees with the reference",
        (
            "The characters' feelings, attitudes and decisions agree with those in the reference. "
            "Other words are no flaw. A reaction or an outcome that contradicts the reference is."
        ),
    ),
    Dimension.ANTHROPOMORPHISM: (
        "how human the characters are",
        (
            "Each character pursues its own goals and shows initiative. It has feelings and an "
            "inner life, remembers the conversation, reacts to people as people do, and speaks "
            "like a person. Lecturing, stiff or interchangeable speech and empty agreement are "
            "flaws."
        ),
    ),
    Dimension.CHARACTER_FIDELITY: (
        "how true the characters are to their profiles",
        (
            "Language, knowledge, personality, relationships and background agree with each "
            "character's profile and the book. Knowledge that a character cannot have is a flaw."
        ),
    ),
    Dimension.STORYLINE_QUALITY: (
        "how well the conversation develops as a story",
        (
            "The conversation flows and moves forward. Repetition, contradictions, sudden jumps, "
            "meaningless exchanges and needless length are flaws."
        ),
    ),
}

_PROMPT = """\
You are a literary critic. You judge a simulated conversation in which a model played every \
character of a scene from {book}.

# Plot
{plot}

# Scene
{setting}

# Characters
{profiles}

# Reference: the conversation in the book
{reference}

# Your task
Judge one dimension only: {dimension}, {brief}.
{criteria}
The main characters are {major}. Judge them first of all.

List every flaw. For each, quote the passage, name the kind of flaw, and rate its severity from 1 \
(minor) to {max_severity} (severe). An empty list means that you found no flaw.

Answer with JSON and nothing else:
{{"{dimension}": {{"flaws": [{{"instance": "…", "type": "…", "severity": 1}}]}}}}"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The flaws in one dimension, or the reason why there is no verdict."""

    dimension: Dimension
    severities: tuple[int, ...] = ()
    flaws: tuple[dict[str, Any], ...] = ()
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON data."""
        return {
            "dimension": str(self.dimension),
            "severities": list(self.severities),
            "flaws": list(self.flaws),
            "failure": self.failure,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Verdict:
        """Return the verdict that `to_json` wrote."""
        return cls(
            Dimension(data["dimension"]),
            tuple(data["severities"]),
            tuple(data["flaws"]),
            data["failure"],
        )


async def find_flaws(
    judge: ChatModel,
    scene: ActingScene,
    conversation: Conversation,
    dimension: Dimension,
    seed: int,
) -> Verdict:
    """Return the judge's verdict.

    A judge that fails is asked three times. Then the verdict has the failure.
    """
    messages = (
        Message(Role.SYSTEM, judge_prompt(scene, dimension)),
        Message(Role.USER, conversation.text()),
    )
    failure = ""
    for attempt in range(_ATTEMPTS):
        try:
            answer = await judge.answer(messages, max_tokens=_MAX_TOKENS, seed=seed + attempt)
        except EngineError as error:
            return Verdict(dimension, failure=str(error))
        flaws = parse_flaws(answer, dimension)
        if isinstance(flaws, str):
            failure = flaws
            continue
        return Verdict(dimension, tuple(map(_severity, flaws)), tuple(flaws))
    return Verdict(dimension, failure=failure)


def judge_prompt(scene: ActingScene, dimension: Dimension) -> str:
    """Return the system prompt for one dimension."""
    brief, criteria = _CRITERIA[dimension]
    reference = "\n\n".join(
        f"{speaker}: {_THOUGHTS.sub('', text).strip()}" for speaker, text in scene.reference
    )
    return _PROMPT.format(
        book=scene.scenario.book,
        plot=scene.plot_summary or "(not given)",
        setting=scene.scenario.setting,
        profiles="\n\n".join(f"## {name}\n{text}" for name, text in scene.profiles)
        or "(not given)",
        reference=reference or "(not given)",
        dimension=dimension,
        brief=brief,
        criteria=criteria,
        major=", ".join(scene.major_characters or scene.speakers),
        max_severity=MAX_SEVERITY,
    )


def parse_flaws(answer: str, dimension: Dimension) -> list[dict[str, Any]] | str:
    """Return the flaws in a judge's answer, or the reason why it has none that can be read.

    As in CoSER's harness, a flaw without a severity counts as 1.
    """
    data = _first_object(answer)
    if data is None:
        return "The answer is not JSON."
    section = data.get(str(dimension), data if "flaws" in data else None)
    if not isinstance(section, dict) or not isinstance(section.get("flaws"), list):
        return f"The answer has no flaws for {dimension}."
    flaws: list[dict[str, Any]] = section["flaws"]
    if not all(isinstance(flaw, dict) for flaw in flaws):
        return "A flaw is not an object."
    if not all(_is_severity(flaw.get("severity")) for flaw in flaws):
        return f"A severity is not a whole number from 1 to {MAX_SEVERITY}."
    return flaws


def _first_object(answer: str) -> dict[str, Any] | None:
    decoder = json.JSONDecoder()
    for found in re.finditer(r"\{", answer):
        try:
            data, _ = decoder.raw_decode(answer, found.start())
        except ValueError:
            continue
        return data if isinstance(data, dict) else None
    return None


def _is_severity(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_SEVERITY


def _severity(flaw: dict[str, Any]) -> int:
    return 1 if flaw.get("severity") is None else int(flaw["severity"])
