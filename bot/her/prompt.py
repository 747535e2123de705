"""The prompt that an engine receives.

Control tokens and text are separate parts, so that text can never act as a control token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Control:
    """A control token of the model, by its spelling, such as `<|im_start|>`."""

    token: str


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text. An engine tokenises it so that control tokens spelt in it stay text."""

    text: str


PromptPart: TypeAlias = Control | Text


@dataclass(frozen=True, slots=True)
class Prompt:
    """The parts of a prompt in order.

    `prefill` is the start of the reply, such as `<system_thinking>`. It is the last of `parts`.
    Engines don't repeat it in their output, so whoever parses the reply must know about it.
    """

    parts: tuple[PromptPart, ...]
    prefill: str = ""

    @property
    def text(self) -> str:
        """The exact text of the prompt, with control tokens spelt out."""
        return "".join(
            part.token if isinstance(part, Control) else part.text for part in self.parts
        )
