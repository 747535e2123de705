"""The dimensions in a checkpoint's `config.json`, and the tensors that follow from them.

Qwen3, the architecture of the HER models, is the only one supported. Names on the hub's side are
those of `transformers`. Names on llama.cpp's side come from the package `gguf`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gguf import MODEL_ARCH, get_tensor_name_map
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from bot.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Iterator

ARCHITECTURES: Final = {
    "Qwen3ForCausalLM": "qwen3"
}  # supported architectures: name on the hub, name in llama.cpp
_SCALING_KINDS: Final = {"linear", "yarn", "default"}


@dataclass(frozen=True, slots=True)
class TensorShape:
    """One tensor: its name in the checkpoint, its name in a GGUF file, and its shape, longest
    stride first.
    """

    source: str
    name: str
    shape: tuple[int, ...]


class Dimensions(BaseModel):
    """The dimensions of a Qwen3 model, named as in `config.json`. Unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    hidden_size: int = Field(gt=0, le=2**17)
    num_hidden_layers: int = Field(gt=0, le=512)
    num_attention_heads: int = Field(gt=0, le=1024)
    num_key_value_heads: int = Field(gt=0, le=1024)
    head_dim: int = Field(default=128, gt=0, le=1024)
    intermediate_size: int = Field(gt=0, le=2**20)
    vocab_size: int = Field(gt=0, le=2**24)
    max_position_embeddings: int = Field(gt=0)
    rms_norm_eps: float = Field(default=1e-6, gt=0)
    rope_theta: float = Field(default=1e6, gt=0)
    rope_scaling: dict[str, Any] | None = None
    tie_word_embeddings: bool = False
    attention_bias: bool = False
    dtype: str = Field(default="bfloat16", validation_alias=AliasChoices("dtype", "torch_dtype"))

    @classmethod
    def of_config(cls, config: object, whose: str) -> Dimensions:
        """Read the content of a `config.json`.

        Raise WeightsError if it is invalid or of another architecture.
        """
        named = config.get("architectures") if isinstance(config, dict) else None
        if not isinstance(config, dict) or not isinstance(named, list):
            raise WeightsError(
                f"The config.json of {whose} names no architecture. Choose a checkpoint of a "
                "Qwen3 model."
            )
        if not set(named) & ARCHITECTURES.keys():
            raise WeightsError(
                f"{whose} is a {', '.join(map(str, named))}, which can't be built or measured "
                f"here. Only {', '.join(ARCHITECTURES)} is supported. Download a ready GGUF "
                "file of it: `aside models pull hf:…`."
            )
        rope = config.get("rope_parameters")
        if isinstance(rope, dict):  # newer versions of `transformers` write it like this
            scaled = rope.get("rope_type", "default") != "default"
            config = {
                "rope_theta": rope.get("rope_theta", 1e6),
                "rope_scaling": rope if scaled else None,
            } | config
        config = {key: value for key, value in config.items() if value is not None}
        try:
            found = cls.model_validate(config)
        except ValidationError as error:
            wrong = ", ".join(
                sorted({str(fault["loc"][0]) for fault in error.errors() if fault["loc"]})
            )
            raise WeightsError(
                f"The config.json of {whose} can't be used, because {wrong} is missing or "
                "wrong. Download it again."
            ) from error
        found.require_supported(whose)
        return found

    def require_supported(self, whose: str) -> None:
        """Raise WeightsError if the model needs features that the converter lacks."""
        if self.attention_bias:
            raise WeightsError(
                f"{whose} has biases in its attention, which are not supported. Published "
                "Qwen3 models have none."
            )
        if self.scaling_kind not in _SCALING_KINDS:
            raise WeightsError(
                f"{whose} scales its context with {self.scaling_kind!r}, which is not "
                f"supported. Supported: {', '.join(sorted(_SCALING_KINDS))}."
            )

    @property
    def scaling_kind(self) -> str:
        """The method for positions beyond the trained context: `default` (none), `linear` or
        `yarn`.
        """
        scaling = self.rope_scaling or {}
        return str(scaling.get("rope_type") or scaling.get("type") or "default")

    def tensors(self) -> Iterator[TensorShape]:
        """Yield every tensor of the model, in the order of the file."""
        names = get_tensor_name_map(MODEL_ARCH.QWEN3, self.num_hidden_layers)
        for source, shape in self._shapes():
            name = names.get_name(source, try_suffixes=(".weight",))
            assert name is not None  # noqa: S101 - every tensor of Qwen3 has a name in llama.cpp
            yield TensorShape(source, name, shape)

    def _shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        hidden, inner = self.hidden_size, self.intermediate_size
        queries, keys = (
            self.num_attention_heads * self.head_dim,
            self.num_key_value_heads * self.head_dim,
        )
        yield "model.embed_tokens.weight", (self.vocab_size, hidden)
        for layer in range(self.num_hidden_layers):
            block = f"model.layers.{layer}"
            yield f"{block}.input_layernorm.weight", (hidden,)
            yield f"{block}.self_attn.q_proj.weight", (queries, hidden)
            yield f"{block}.self_attn.k_proj.weight", (keys, hidden)
            yield f"{block}.self_attn.v_proj.weight", (keys, hidden)
            yield f"{block}.self_attn.o_proj.weight", (hidden, queries)
            yield f"{block}.self_attn.q_norm.weight", (self.head_dim,)
            yield f"{block}.self_attn.k_norm.weight", (self.head_dim,)
            yield f"{block}.post_attention_layernorm.weight", (hidden,)
            yield f"{block}.mlp.gate_proj.weight", (inner, hidden)
            yield f"{block}.mlp.up_proj.weight", (inner, hidden)
            yield f"{block}.mlp.down_proj.weight", (hidden, inner)
        yield "model.norm.weight", (hidden,)
        if not self.tie_word_embeddings:
            yield "lm_head.weight", (self.vocab_size, hidden)
