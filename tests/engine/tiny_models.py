"""Creates tiny models with random weights in several architectures, with a vocabulary of bytes.

They load in a moment, generate nonsense, and have the control tokens and chat templates of their
families.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from gguf import GGUFWriter, TokenType

from tests.engine import chat_templates

if TYPE_CHECKING:
    from pathlib import Path

_LAYERS: Final = 2
_EMBEDDING: Final = 64
_FEED_FORWARD: Final = 128
_HEADS: Final = 4
_KV_HEADS: Final = 2
_HEAD_SIZE: Final = 16
_STATE_SIZE: Final = 16  # of Mamba
_INNER_SIZE: Final = 128
_KERNEL: Final = 4
_TIME_STEP_RANK: Final = 8
EXPERTS: Final = 4
EXPERTS_USED: Final = 2
_WINDOW: Final = 64  # tokens of Gemma's sliding window


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """An architecture with the chat template and the control tokens of its models."""

    architecture: str
    template: str
    bos: str
    end_of_turn: str
    controls: tuple[str, ...] = field(default=())
    add_bos: bool = True
    uses_sentencepiece: bool = False  # a vocabulary in which a text begins with a space


LLAMA_2: Final = ModelFamily(
    "llama", chat_templates.MISTRAL, "<s>", "</s>", ("<unk>",), uses_sentencepiece=True
)
QWEN_3: Final = ModelFamily(
    "qwen3",
    chat_templates.CHATML,
    "<|endoftext|>",
    "<|im_end|>",
    ("<|im_start|>",),
    add_bos=False,
)
QWEN_3_MOE: Final = ModelFamily(
    "qwen3moe",
    chat_templates.CHATML,
    "<|endoftext|>",
    "<|im_end|>",
    ("<|im_start|>",),
    add_bos=False,
)
LLAMA_3: Final = ModelFamily(
    "llama",
    chat_templates.LLAMA_3,
    "<|begin_of_text|>",
    "<|eot_id|>",
    ("<|start_header_id|>", "<|end_header_id|>"),
)
MAMBA: Final = ModelFamily(
    "mamba",
    chat_templates.CHATML,
    "<|endoftext|>",
    "<|im_end|>",
    ("<|im_start|>",),
    add_bos=False,
)
GEMMA_3: Final = ModelFamily(
    "gemma3", chat_templates.GEMMA_3, "<bos>", "<end_of_turn>", ("<start_of_turn>",)
)


def make_tiny_model(path: Path, family: ModelFamily, *, context: int = 8192, seed: int = 1) -> Path:
    """Write a model of a family and return `path`."""
    writer = GGUFWriter(path, family.architecture)
    writer.add_name(f"Tiny {family.architecture}")
    writer.add_block_count(_LAYERS)
    writer.add_context_length(context)
    writer.add_embedding_length(_EMBEDDING)
    writer.add_feed_forward_length(_FEED_FORWARD)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_KV_HEADS)
    writer.add_key_length(_HEAD_SIZE)
    writer.add_value_length(_HEAD_SIZE)
    writer.add_rope_dimension_count(_HEAD_SIZE)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    if family.architecture == "gemma3":
        writer.add_sliding_window(_WINDOW)
    if family.architecture == "mamba":
        writer.add_ssm_conv_kernel(_KERNEL)
        writer.add_ssm_inner_size(_INNER_SIZE)
        writer.add_ssm_state_size(_STATE_SIZE)
        writer.add_ssm_time_step_rank(_TIME_STEP_RANK)
    if family.architecture == "qwen3moe":
        writer.add_expert_count(EXPERTS)
        writer.add_expert_used_count(EXPERTS_USED)
        writer.add_expert_feed_forward_length(_FEED_FORWARD)
    vocabulary = _add_vocabulary(writer, family)
    rng = np.random.default_rng(seed)
    for name, shape in _tensor_shapes(family.architecture, vocabulary).items():
        is_norm = len(shape) == 1
        values = np.ones(shape) if is_norm else rng.normal(0.0, 0.5 / np.sqrt(shape[-1]), shape)
        if name.endswith("ssm_a"):
            values = -np.abs(values)  # the state decays
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vocabulary(writer: GGUFWriter, family: ModelFamily) -> int:
    """Write a vocabulary of all bytes and the control tokens, and return its size."""
    if family.uses_sentencepiece:
        return _add_sentencepiece_vocabulary(writer, family)
    controls = (family.bos, family.end_of_turn, *family.controls)
    letters = list(_byte_letters())
    merged = letters[ord("t")] + letters[ord("h")]
    tokens = [*controls, *letters, merged]
    types = [TokenType.CONTROL] * len(controls) + [TokenType.NORMAL] * (len(letters) + 1)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([f"{letters[ord('t')]} {letters[ord('h')]}"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(family.add_bos)
    writer.add_chat_template(family.template)
    return len(tokens)


def _add_sentencepiece_vocabulary(writer: GGUFWriter, family: ModelFamily) -> int:
    controls = (family.bos, family.end_of_turn, *family.controls)
    letters = ["▁", *map(chr, range(33, 127))]
    tokens = [*controls, *(f"<0x{byte:02X}>" for byte in range(256)), *letters]
    types = [
        *[TokenType.CONTROL] * len(controls),
        *[TokenType.BYTE] * 256,
        *[TokenType.NORMAL] * len(letters),
    ]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_scores([-float(number) for number in range(len(tokens))])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_unk_token_id(2)
    writer.add_add_bos_token(family.add_bos)
    writer.add_add_space_prefix(True)
    writer.add_chat_template(family.template)
    return len(tokens)


def _byte_letters() -> tuple[str, ...]:
    """Return the letter that stands for each byte in GPT-2's vocabulary."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {byte: chr(byte) for byte in printable}
    letters |= {byte: chr(256 + number) for number, byte in enumerate(others)}
    return tuple(letters[byte] for byte in range(256))


def _tensor_shapes(architecture: str, vocabulary: int) -> dict[str, tuple[int, ...]]:
    if architecture == "mamba":
        return _mamba_tensor_shapes(vocabulary)
    query = (_HEADS * _HEAD_SIZE, _EMBEDDING)
    key = (_KV_HEADS * _HEAD_SIZE, _EMBEDDING)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (vocabulary, _EMBEDDING),
        "output_norm.weight": (_EMBEDDING,),
    }
    norms = {"attn_norm": _EMBEDDING, "ffn_norm": _EMBEDDING}
    if architecture in ("qwen3", "qwen3moe", "gemma3"):
        norms |= {"attn_q_norm": _HEAD_SIZE, "attn_k_norm": _HEAD_SIZE}
    if architecture == "gemma3":
        norms |= {"post_attention_norm": _EMBEDDING, "post_ffw_norm": _EMBEDDING}
    else:
        shapes["output.weight"] = (vocabulary, _EMBEDDING)
    for layer in range(_LAYERS):
        for name, size in norms.items():
            shapes[f"blk.{layer}.{name}.weight"] = (size,)
        matrices: dict[str, tuple[int, ...]] = {
            "attn_q": query,
            "attn_k": key,
            "attn_v": key,
            "attn_output": query[::-1],
        }
        if architecture == "qwen3moe":
            matrices |= {
                "ffn_gate_inp": (EXPERTS, _EMBEDDING),
                "ffn_gate_exps": (EXPERTS, _FEED_FORWARD, _EMBEDDING),
                "ffn_up_exps": (EXPERTS, _FEED_FORWARD, _EMBEDDING),
                "ffn_down_exps": (EXPERTS, _EMBEDDING, _FEED_FORWARD),
            }
        else:
            matrices |= {
                "ffn_gate": (_FEED_FORWARD, _EMBEDDING),
                "ffn_up": (_FEED_FORWARD, _EMBEDDING),
                "ffn_down": (_EMBEDDING, _FEED_FORWARD),
            }
        for name, shape in matrices.items():
            shapes[f"blk.{layer}.{name}.weight"] = shape
    return shapes


def _mamba_tensor_shapes(vocabulary: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (vocabulary, _EMBEDDING),
        "output_norm.weight": (_EMBEDDING,),
        "output.weight": (vocabulary, _EMBEDDING),
    }
    tensors: dict[str, tuple[int, ...]] = {
        "attn_norm.weight": (_EMBEDDING,),
        "ssm_in.weight": (2 * _INNER_SIZE, _EMBEDDING),
        "ssm_conv1d.weight": (_INNER_SIZE, _KERNEL),
        "ssm_conv1d.bias": (_INNER_SIZE,),
        "ssm_x.weight": (_TIME_STEP_RANK + 2 * _STATE_SIZE, _INNER_SIZE),
        "ssm_dt.weight": (_INNER_SIZE, _TIME_STEP_RANK),
        "ssm_dt.bias": (_INNER_SIZE,),
        "ssm_a": (_INNER_SIZE, _STATE_SIZE),
        "ssm_d": (_INNER_SIZE,),
        "ssm_out.weight": (_EMBEDDING, _INNER_SIZE),
    }
    for layer in range(_LAYERS):
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in tensors.items()}
    return shapes
