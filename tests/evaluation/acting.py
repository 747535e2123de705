"""A scene to act and chat models with known answers, for the tests of evaluations."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bot.her.layout import Message

ITEM = {
    "book": "Pride and Prejudice",
    "topic": "A letter at breakfast",
    "scenario": "The library at Longbourn, after breakfast.",
    "plot": {
        "summary": "A letter has come.",
        "key_characters": [{"name": "Mr Bennet", "description": "Head of the family."}],
    },
    "character_profiles": {"Mr Bennet": "A sarcastic man.", "Elizabeth Bennet": "His daughter."},
    "key_characters": [
        {"name": "Mr Bennet", "motivation": "He wants to be amused."},
        {"name": "Elizabeth Bennet", "motivation": "She fears the letter."},
    ],
    "speaking_characters_w_env": ["Mr Bennet", "Elizabeth Bennet"],
    "major_characters": ["Mr Bennet", "Elizabeth Bennet"],
    "dialogues": [
        {"character": "Mr Bennet", "message": "[I shall tease her.] (smiles) A letter, Lizzy."},
        {"character": "Elizabeth Bennet", "message": "From whom, Papa?"},
    ],
}

REPLY = (
    "He will tease her.</system_thinking>{name}: <role_thinking>Secret.</role_thinking>"
    "<role_action>smiles</role_action>Here is a letter."
)


def write_scenes(path: Path, *items: object) -> Path:
    """Write a file in CoSER's format."""
    path.write_text(json.dumps(items or (ITEM,)), encoding="utf-8")
    return path


def flaws(dimension: str, *severities: int | None) -> str:
    """Return a judge's answer with one flaw per severity."""
    listed = [{"instance": "…", "type": "…", "severity": one} for one in severities]
    return json.dumps({dimension: {"flaws": listed}})


@dataclass
class ScriptedChat:
    """A ChatModel whose `reply` function sees each request. An EngineError is raised."""

    reply: Callable[[Sequence[Message]], str | EngineError]
    name: str = "scripted judge"
    requests: list[Sequence[Message]] = field(default_factory=list)

    async def answer(self, messages: Sequence[Message], *, max_tokens: int, seed: int) -> str:
        assert max_tokens > 0
        assert seed >= 0
        self.requests.append(messages)
        answer = self.reply(messages)
        if isinstance(answer, EngineError):
            raise answer
        return answer
