"""Properties of a model on which its prompt format and its dialect depend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gguf import GGUFReader
from pydantic import BaseModel, ConfigDict

from bot.engine.chat_template import FALLBACK_TEMPLATES, ChatTemplate
from bot.engine.protocol import Dialect
from bot.weights import gguf_reader

if TYPE_CHECKING:
    from pathlib import Path

CHATML_CONTROL: Final = "<|im_start|>"
_PLAIN_PARAMETERS: Final = 3 * 10**9
"""Weights from which a model follows HER's structure when it is described to it. Qwen3's 4B does,
and its 1.7B does not."""


class ModelTraits(BaseModel):
    """What the prompt of a model depends on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parameters: int
    has_chatml: bool  # whether the model has ChatML's control tokens
    chat_template: str  # the model's own, or empty
    family_control: str  # the control token for which there is a fallback template, or empty
    bos: str
    eos: str

    def choose_template(self) -> ChatTemplate | None:
        """Return the model's chat template, or None if it uses ChatML or has no usable one."""
        if self.has_chatml:
            return None
        return ChatTemplate.load(
            self.chat_template, bos=self.bos, eos=self.eos
        ) or ChatTemplate.load_fallback(self.family_control, bos=self.bos, eos=self.eos)

    def choose_dialect(self) -> Dialect:
        """Return the dialect of a model that the catalogue does not know.

        A model with ChatML may be a HER model. Any other model was not trained on HER's layout.
        """
        if self.has_chatml:
            return Dialect.HER
        return Dialect.PLAIN if self.parameters >= _PLAIN_PARAMETERS else Dialect.STAND_IN


def read_traits(path: Path) -> ModelTraits:
    """Return the traits of a GGUF file without loading the model. It takes a second or two."""
    readers = [GGUFReader(part) for part in gguf_reader.list_parts(path)]
    fields = readers[0].fields
    listed = fields.get("tokenizer.ggml.tokens")
    tokens = (
        [bytes(listed.parts[at]).decode("utf-8", "replace") for at in listed.data] if listed else []
    )
    known = frozenset(tokens)

    def spell(kind: str) -> str:
        number = fields.get(f"tokenizer.ggml.{kind}_token_id")
        return tokens[int(number.contents())] if number else ""

    template = fields.get("tokenizer.chat_template")
    return ModelTraits(
        parameters=sum(int(tensor.n_elements) for reader in readers for tensor in reader.tensors),
        has_chatml=CHATML_CONTROL in known,
        chat_template=str(template.contents()) if template else "",
        family_control=next(filter(known.__contains__, FALLBACK_TEMPLATES), ""),
        bos=spell("bos"),
        eos=spell("eos"),
    )
