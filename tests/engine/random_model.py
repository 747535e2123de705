"""Makes a model of random weights in the shape of a Qwen3, with the demo model's vocabulary.

It writes nonsense, at the speed and with the memory of a real one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter

from bot.weights.find_model import resolve

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

_Q4_0_BLOCK: Final = 32  # numbers in 18 bytes: a scale in half precision, and four bits each


@dataclass(frozen=True, slots=True)
class Shape:
    """Measures of a Qwen3."""

    layers: int
    embedding: int
    feed_forward: int
    heads: int
    kv_heads: int
    head_size: int
    context: int = 32768
    vocabulary: int | None = (
        None  # None: the demo model's; more: filled up with tokens that mean nothing
    )


QWEN3_32B: Final = Shape(64, 5120, 25600, 64, 8, 128, vocabulary=151936)
TINY: Final = Shape(2, 64, 128, 4, 2, 32, context=512)


def make_model(path: Path, shape: Shape, *, seed: int = 1) -> Path:
    """Write the model, its matrices in Q4_0. Takes as many bytes of disk as the real one: 18 GB for Qwen3-32B."""
    chance = np.random.default_rng(seed)
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
        writer.write_tensor_data(_random_q4(chance, rows, columns))
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
    """Write the keys; return the size of the vocabulary."""
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
    demo = GGUFReader(resolve("demo").path)
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
    """Name, rows and columns of each matrix."""
    wide, narrow, size, inner = (
        shape.heads * shape.head_size,
        shape.kv_heads * shape.head_size,
        shape.embedding,
        shape.feed_forward,
    )
    found = [("token_embd.weight", vocabulary, size), ("output.weight", vocabulary, size)]
    for layer in range(shape.layers):
        found += [
            (f"blk.{layer}.attn_q.weight", wide, size),
            (f"blk.{layer}.attn_k.weight", narrow, size),
            (f"blk.{layer}.attn_v.weight", narrow, size),
            (f"blk.{layer}.attn_output.weight", size, wide),
            (f"blk.{layer}.ffn_gate.weight", inner, size),
            (f"blk.{layer}.ffn_up.weight", inner, size),
            (f"blk.{layer}.ffn_down.weight", size, inner),
        ]
    return found


def _norms(layer: int) -> list[str]:
    return [
        f"blk.{layer}.{name}.weight"
        for name in ("attn_norm", "ffn_norm", "attn_q_norm", "attn_k_norm")
    ]


def _random_q4(chance: np.random.Generator, rows: int, columns: int) -> npt.NDArray[np.uint8]:
    """Random weights of such a size that activations stay in range."""
    blocks = np.empty((rows, columns // _Q4_0_BLOCK, 18), np.uint8)
    scale = np.array([0.25 / np.sqrt(columns)], np.float16)
    blocks[..., :2] = scale.view(np.uint8)
    blocks[..., 2:] = chance.integers(0, 256, (rows, columns // _Q4_0_BLOCK, 16), np.uint8)
    return blocks.reshape(rows, -1)
