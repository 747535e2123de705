"""Write the header of a GGUF file for Qwen3, with a hole in place of the tensors.

llama.cpp's quantiser needs no more to report sizes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType, RopeScalingType

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bot.weights.dimensions import Dimensions, TensorShape
    from bot.weights.vocabulary import Vocabulary

FloatType: TypeAlias = Literal["F32", "F16", "BF16"]

_BYTES: Final = {"F32": 4, "F16": 2, "BF16": 2}
_FILE_TYPES: Final = {
    "F32": LlamaFileType.ALL_F32,
    "F16": LlamaFileType.MOSTLY_F16,
    "BF16": LlamaFileType.MOSTLY_BF16,
}


@dataclass(frozen=True, slots=True)
class TensorPlacement:
    """The place of a tensor's data in the file: start and size in bytes."""

    tensor: TensorShape
    kind: FloatType
    start: int
    size: int


def write_header(
    path: Path,
    dimensions: Dimensions,
    kind: FloatType,
    name: str,
    vocabulary: Vocabulary | None = None,
) -> tuple[TensorPlacement, ...]:
    """Write a file of its final size, with a hole as data. Return the place of each tensor.

    Matrices have the type `kind`. One-dimensional tensors are F32, because llama.cpp computes with
    them in F32. Raise OSError.
    """
    writer = GGUFWriter(path, "qwen3")
    writer.add_name(name)
    writer.add_file_type(_FILE_TYPES[kind])
    _write_dimensions(writer, dimensions)
    if vocabulary is not None:
        vocabulary.write(writer)
    else:
        writer.add_vocab_size(dimensions.vocab_size)
    kinds = [(tensor, choose_tensor_type(tensor, kind)) for tensor in dimensions.tensors()]
    for tensor, one in kinds:
        raw = GGMLQuantizationType[one]
        writer.add_tensor_info(
            tensor.name, tensor.shape, np.dtype(np.float32), _size(tensor, one), raw_dtype=raw
        )
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
    finally:
        writer.close()
    places = _place_tensors(kinds, path.stat().st_size, writer.data_alignment)
    os.truncate(path, places[-1].start + _pad(places[-1].size, writer.data_alignment))
    return places


def choose_tensor_type(tensor: TensorShape, kind: FloatType) -> FloatType:
    """Return the type in which a tensor is stored if matrices are stored as `kind`."""
    return "F32" if len(tensor.shape) == 1 else kind


def _write_dimensions(writer: GGUFWriter, dimensions: Dimensions) -> None:
    writer.add_block_count(dimensions.num_hidden_layers)
    writer.add_context_length(dimensions.max_position_embeddings)
    writer.add_embedding_length(dimensions.hidden_size)
    writer.add_feed_forward_length(dimensions.intermediate_size)
    writer.add_head_count(dimensions.num_attention_heads)
    writer.add_head_count_kv(dimensions.num_key_value_heads)
    writer.add_key_length(dimensions.head_dim)
    writer.add_value_length(dimensions.head_dim)
    writer.add_rope_freq_base(dimensions.rope_theta)
    writer.add_layer_norm_rms_eps(dimensions.rms_norm_eps)
    scaling = dimensions.rope_scaling or {}
    if dimensions.scaling_kind != "default":
        writer.add_rope_scaling_type(RopeScalingType(dimensions.scaling_kind))
        writer.add_rope_scaling_factor(float(scaling.get("factor", 1.0)))
    if original := scaling.get("original_max_position_embeddings"):
        writer.add_rope_scaling_orig_ctx_len(int(original))


def _place_tensors(
    kinds: Sequence[tuple[TensorShape, FloatType]], front: int, alignment: int
) -> tuple[TensorPlacement, ...]:
    at = _pad(front, alignment)
    places = []
    for tensor, kind in kinds:
        places.append(TensorPlacement(tensor, kind, at, _size(tensor, kind)))
        at += _pad(_size(tensor, kind), alignment)
    return tuple(places)


def _size(tensor: TensorShape, kind: FloatType) -> int:
    return prod(tensor.shape) * _BYTES[kind]


def _pad(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
