"""Creates a Qwen3 model with random weights and the demo model's vocabulary.

It generates nonsense, with the speed and memory of a real model of that size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter

from bot.weights.find_model import find_model

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

_Q4_0_BLOCK: Final = 32  # weights in 18 bytes: a half-precision scale and four bits per weight


@dataclass(frozen=True, slots=True)
class Shape:
    """Dimensions of a Qwen3 model."""

    layers: int
    embedding: int
    feed_forward: int
    heads: int
    kv_heads: int
    head_size: int
    context: int = 32768
    vocabulary: int | None = None
    """Size of the vocabulary. If it exceeds the demo model's, unused tokens are added."""


QWEN3_32B: Final = Shape(64, 5120, 25600, 64, 8, 128, vocabulary=151936)
TINY: Final = Shape(2, 64, 128, 4, 2, 32, context=512)


def make_model(path: Path, shape: Shape, *, seed: int = 1) -> Path:
    """Write the model with matrices in Q4_0 and return `path`. Qwen3-32B takes 18 GB of disk."""
    rng = np.random.default_rng(seed)
    writer = GGUFWriter(path, "qwen3", use_temp_file=False)
    vocabulary = _header(writer, shape)
    for name, rows, columns in _matrices(shape, vocabulary):
        writer.add_tensor_info(
            name,
            (rows, columns // _Q4_0_BLOCK * 18),
            np.dtype(np.uint8),
            rows * columns * 18 // 32,
            GGMLQuantizationType.Q4_0,
        )
    norms = [name for layer in range(shape.layers) for name in _norms(layer)] + [
        "output_norm.weight"
    ]
    for name in norms:
        size = (
            shape.head_size
            if name.endswith(("q_norm.weight", "k_norm.weight"))
            else shape.embedding
        )
        writer.add_tensor_info(name, (size,), np.dtype(np.float32), size * 4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for _, rows, columns in _matrices(shape, vocabulary):
        writer.write_tensor_data(_random_q4(rng, rows, columns))
    for name in norms:
        size = (
            shape.head_size
            if name.endswith(("q_norm.weight", "k_norm.weight"))
            else shape.embedding
        )
        writer.write_tensor_data(np.ones(size, np.float32))
    writer.close()
    return path


def _header(writer: GGUFWriter, shape: Shape) -> int:
    """Write the metadata and return the size of the vocabulary."""
    writer.add_name("Random Qwen3")
    writer.add_block_count(shape.layers)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.embedding)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_size)
    writer.add_value_length(shape.head_size)
    writer.add_rope_freq_base(1_000_000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    demo = GGUFReader(find_model("demo").path)
    tokens = _strings(demo, "tokenizer.ggml.tokens")
    kinds = [
        int(demo.fields["tokenizer.ggml.token_type"].parts[at][0])
        for at in demo.fields["tokenizer.ggml.token_type"].data
    ]
    missing = max(0, (shape.vocabulary or 0) - len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([*tokens, *(f"[{number}]".encode() for number in range(missing))])
    writer.add_token_types([*kinds, *[5] * missing])  # 5: unused
    writer.add_token_merges(_strings(demo, "tokenizer.ggml.merges"))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    return len(tokens) + missing


def _strings(reader: GGUFReader, key: str) -> list[bytes]:
    field = reader.fields[key]
    return [bytes(field.parts[at]) for at in field.data]


def _matrices(shape: Shape, vocabulary: int) -> list[tuple[str, int, int]]:
    """Return the name, rows and columns of each matrix."""
    query = shape.heads * shape.head_size
    key_value = shape.kv_heads * shape.head_size
    size = shape.embedding
    inner = shape.feed_forward
    matrices = [("token_embd.weight", vocabulary, size), ("output.weight", vocabulary, size)]
    for layer in range(shape.layers):
        matrices += [
            (f"blk.{layer}.attn_q.weight", query, size),
            (f"blk.{layer}.attn_k.weight", key_value, size),
            (f"blk.{layer}.attn_v.weight", key_value, size),
            (f"blk.{layer}.attn_output.weight", size, query),
            (f"blk.{layer}.ffn_gate.weight", inner, size),
            (f"blk.{layer}.ffn_up.weight", inner, size),
            (f"blk.{layer}.ffn_down.weight", size, inner),
        ]
    return matrices


def _norms(layer: int) -> list[str]:
    return [
        f"blk.{layer}.{name}.weight"
        for name in ("attn_norm", "ffn_norm", "attn_q_norm", "attn_k_norm")
    ]


def _random_q4(rng: np.random.Generator, rows: int, columns: int) -> npt.NDArray[np.uint8]:
    """Return random weights that are small enough to keep activations in range."""
    blocks = np.empty((rows, columns // _Q4_0_BLOCK, 18), np.uint8)
    scale = np.array([0.25 / np.sqrt(columns)], np.float16)
    blocks[..., :2] = scale.view(np.uint8)
    blocks[..., 2:] = rng.integers(0, 256, (rows, columns // _Q4_0_BLOCK, 16), np.uint8)
    return blocks.reshape(rows, -1)
