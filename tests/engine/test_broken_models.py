"""Model files with a sound header that llama.cpp refuses."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.errors import ModelFileError
from tests.engine.tiny_models import QWEN_3, make_tiny_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.model, pytest.mark.timeout(120)]


def without_a_tensor(model: bytes) -> bytes:
    return model.replace(b"blk.0.attn_q.weight", b"blk.0.other.weights")


def without_a_value(model: bytes) -> bytes:
    return model.replace(b"qwen3.embedding_length", b"qwen3.another__length_")


def with_an_unknown_tokenizer(model: bytes) -> bytes:
    return model.replace(b"gpt2", b"gpt9")


def with_an_unknown_type(model: bytes) -> bytes:
    name = b"blk.0.attn_q.weight"
    dimensions = model.index(name) + len(name)
    kind = dimensions + 4 + 8 * struct.unpack_from("<I", model, dimensions)[0]
    return model[:kind] + struct.pack("<I", 99) + model[kind + 4 :]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (without_a_tensor, "tensor 'blk.0.attn_q.weight' not found"),
        (without_a_value, "key not found in model: qwen3.embedding_length"),
        (with_an_unknown_tokenizer, "unknown tokenizer: 'gpt9'"),
        (with_an_unknown_type, "failed to load model"),
    ],
)
async def test_a_file_that_llama_cpp_refuses_is_the_persons_input_and_names_the_reason(
    tmp_path: Path, damage: Callable[[bytes], bytes], reason: str
) -> None:
    path = make_tiny_model(tmp_path / "tiny.gguf", QWEN_3)
    path.write_bytes(damage(path.read_bytes()))
    engine = LocalEngine(LocalOptions(model=str(path), context=512, minds=1))
    with pytest.raises(ModelFileError, match=reason):
        await engine.start()
    await engine.close()
