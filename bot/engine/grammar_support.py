"""Finds out by a probe if a completions server holds replies to a grammar.

Servers accept unknown fields without a word, so that only a reply shows if a grammar was obeyed.
"""

from __future__ import annotations

import re
from contextlib import aclosing
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from bot.engine.completions_client import ServerError, TransientError

if TYPE_CHECKING:
    from bot.engine.completions_client import Body, CompletionsClient

_PROBE: Final = 'root ::= "aside-" [a-z] "-" [0-9] [0-9]\n'
_PROMPT: Final = "Say good evening."
_OBEDIENT: Final = re.compile(r"aside-[a-z]-[0-9][0-9]")
_MAX_TOKENS: Final = 16


class GrammarField(StrEnum):
    """The field of a request in which a server expects a GBNF grammar."""

    LLAMA_SERVER = "grammar"
    VLLM = "structured_outputs"
    VLLM_BEFORE_0_12 = "guided_grammar"

    def add_to(self, body: Body, grammar: str) -> None:
        """Add a grammar to a request."""
        body[self] = {"grammar": grammar} if self is GrammarField.VLLM else grammar


async def find_grammar_field(client: CompletionsClient, model: str) -> GrammarField | None:
    """Return the field whose grammar the server obeys, or None if it obeys none.

    Sends one short request for each field. Raises TransientError.
    """
    for field in GrammarField:
        body: Body = {
            "model": model,
            "prompt": _PROMPT,
            "stream": True,
            "max_tokens": _MAX_TOKENS,
            "temperature": 0,
        }
        field.add_to(body, _PROBE)
        try:
            async with aclosing(client.complete(body)) as chunks:
                reply = "".join([chunk.text async for chunk in chunks])
        except TransientError:
            raise
        except ServerError:
            continue  # the server rejects the field
        if _OBEDIENT.fullmatch(reply.strip()):
            return field
    return None
