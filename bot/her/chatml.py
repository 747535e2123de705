"""ChatML, the prompt layout of Qwen models.

Aside writes it itself, because chat endpoints add their own thinking switches and refuse a reply
that is already begun.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.prompt import Control, Prompt, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.her.layout import Message
    from bot.her.prompt import PromptPart

START = "<|im_start|>"
END = "<|im_end|>"
STOPS = (END, START)
"""Generation stops before any of these."""

PREFILL = "<system_thinking>"
_EMPTY_THINK = "<think>\n\n</think>\n\n"


def render_chatml(
    messages: Iterable[Message], *, prefill: str = PREFILL, empty_think: bool = False
) -> Prompt:
    """Return the prompt for the assistant's next message, which begins with `prefill`.

    `empty_think` inserts Qwen3's empty thinking block before it. It is not known if HER was trained
    with that block; the authors' evaluation leaves it out.
    """
    parts: list[PromptPart] = []
    for message in messages:
        parts += [Control(START), Text(f"{message.role}\n{message.text}"), Control(END), Text("\n")]
    parts += [Control(START), Text(f"assistant\n{_EMPTY_THINK if empty_think else ''}")]
    if prefill:
        parts.append(Text(prefill))
    return Prompt(tuple(parts), prefill)
