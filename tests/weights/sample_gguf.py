"""Write small GGUF files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gguf import GGUFWriter

if TYPE_CHECKING:
    from pathlib import Path


def make_gguf(
    path: Path, *, architecture: str = "qwen3", tensors: int = 3, name: str = "Tiny"
) -> Path:
    """Write a GGUF with a Qwen3 header and a few tensors of 64 numbers each."""
    writer = GGUFWriter(path, architecture)
    writer.add_name(name)
    writer.add_block_count(64)
    writer.add_context_length(32768)
    writer.add_embedding_length(5120)
    writer.add_head_count(64)
    writer.add_head_count_kv(8)
    writer.add_key_length(128)
    writer.add_value_length(128)
    writer.add_token_list([f"token {number}" for number in range(500)])
    for number in range(tensors):
        writer.add_tensor(f"blk.{number}.weight", np.zeros(64, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
