"""Write small GGUF files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gguf import GGUFWriter, PoolingType

if TYPE_CHECKING:
    from pathlib import Path


def make_gguf(
    path: Path,
    *,
    architecture: str = "qwen3",
    tensors: int = 3,
    name: str = "Tiny",
    kind: str | None = None,
    pooling: bool = False,
    tokenizer: bool = True,
) -> Path:
    """Write a GGUF with a Qwen3 header and a few tensors of 64 numbers each.

    `kind` is its `general.type`. With `pooling` it is an embedding model.
    """
    writer = GGUFWriter(path, architecture)
    if kind:
        writer.add_type(kind)
    if pooling:
        writer.add_pooling_type(PoolingType.LAST)
    writer.add_name(name)
    writer.add_block_count(64)
    writer.add_context_length(32768)
    writer.add_embedding_length(5120)
    writer.add_head_count(64)
    writer.add_head_count_kv(8)
    writer.add_key_length(128)
    writer.add_value_length(128)
    if tokenizer:
        writer.add_token_list([f"token {number}" for number in range(500)])
    if tensors:
        writer.add_tensor("token_embd.weight", np.zeros(64, np.float32))
        writer.add_tensor("output_norm.weight", np.zeros(64, np.float32))
    for number in range(tensors):
        writer.add_tensor(f"blk.{number}.weight", np.zeros(64, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
