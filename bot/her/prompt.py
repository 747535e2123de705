"""A prompt as the engine takes it: control tokens and text, kept apart so that text can never act as a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Control:
    """One control token of the model's, by its spelling, such as `<|im_start|>`."""

    token: str


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text. An engine tokenises it so that control tokens spelt inside it stay text."""

    text: str


PromptPart: TypeAlias = Control | Text


@dataclass(frozen=True, slots=True)
class Prompt:
    """The parts of a prompt in order.

    `prefill` is the beginning of the reply that the prompt ends with (`<system_thinking>`, as a part of its own
    at the end of `parts`); engines never emit it, so readers of the reply must know of it.
    """

    parts: tuple[PromptPart, ...]
    prefill: str = ""

    @property
    def text(self) -> str:
        """The exact text of the prompt, control tokens spelt out."""
        return "".join(
            part.token if isinstance(part, Control) else part.text for part in self.parts
        )
