"""Prompts and requests for tests of engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.engine.protocol import Engine, Finish, Request
from bot.her.prompt import Control, Prompt, PromptPart, Text

if TYPE_CHECKING:
    from collections.abc import Iterator


def prompt(text: str, *, prefill: str = "", before: tuple[PromptPart, ...] = ()) -> Prompt:
    """Return a ChatML prompt with one user message."""
    parts: list[PromptPart] = [*before]
    parts += _message("user", text)
    parts += [Control("<|im_start|>"), Text("assistant\n")]
    if prefill:
        parts.append(Text(prefill))
    return Prompt(tuple(parts), prefill)


def request(text: str, *, mind: str = "", prefill: str = "", **fields: Any) -> Request:
    """Return a request for a short reply. Without `mind`, each text is a mind of its own."""
    return Request(
        **{
            "prompt": prompt(text, prefill=prefill),
            "mind": mind or text,
            "max_tokens": 24,
            "seed": 7,
            **fields,
        }
    )


async def listen(engine: Engine, asked: Request) -> tuple[str, Finish]:
    """Return the whole reply and its finish, which must come last and once."""
    text, finish = "", None
    async for chunk in engine.generate(asked):
        assert finish is None, "a chunk came after the last one"
        text += chunk.text
        finish = chunk.finish
    assert finish is not None, "the reply ended without a finish"
    return text, finish


def _message(role: str, text: str) -> Iterator[PromptPart]:
    yield Control("<|im_start|>")
    yield Text(f"{role}\n{text}")
    yield Control("<|im_end|>")
    yield Text("\n")
