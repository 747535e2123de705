"""What the tests of engines say to models, and how they listen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.engine.protocol import Engine, Finish, Request
from bot.her.prompt import Control, Prompt, PromptPart, Text

if TYPE_CHECKING:
    from collections.abc import Iterator


def prompt(said: str, *, prefill: str = "", before: tuple[PromptPart, ...] = ()) -> Prompt:
    """A ChatML prompt in which a user says something."""
    parts: list[PromptPart] = [*before]
    parts += _message("user", said)
    parts += [Control("<|im_start|>"), Text("assistant\n")]
    if prefill:
        parts.append(Text(prefill))
    return Prompt(tuple(parts), prefill)


def request(said: str, *, mind: str = "", prefill: str = "", **fields: Any) -> Request:
    """A request for a short reply; a mind of its own unless `mind` says otherwise."""
    return Request(
        **{
            "prompt": prompt(said, prefill=prefill),
            "mind": mind or said,
            "max_tokens": 24,
            "seed": 7,
            **fields,
        }
    )


async def listen(engine: Engine, asked: Request) -> tuple[str, Finish]:
    """The whole reply and its finish, which must come last and once."""
    text, finish = "", None
    async for chunk in engine.generate(asked):
        assert finish is None, "a chunk came after the last one"
        text += chunk.text
        finish = chunk.finish
    assert finish is not None, "the reply ended without a finish"
    return text, finish


def _message(role: str, said: str) -> Iterator[PromptPart]:
    yield Control("<|im_start|>")
    yield Text(f"{role}\n{said}")
    yield Control("<|im_end|>")
    yield Text("\n")
