"""Complete and broken model files, as found on people's disks."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.errors import ModelFileError
from bot.weights.find_model import find_model
from bot.weights.gguf_reader import check_model, list_parts, read_header
from tests.weights.sample_gguf import make_gguf

if TYPE_CHECKING:
    from pathlib import Path


def test_a_header_gives_the_models_dimensions(tmp_path: Path) -> None:
    header = read_header(make_gguf(tmp_path / "tiny.gguf"))
    assert (header.architecture, header.name, header.layers, header.context) == (
        "qwen3",
        "Tiny",
        64,
        32768,
    )
    assert (header.heads, header.kv_heads, header.head_size, header.vocabulary) == (
        64,
        8,
        (128, 128),
        500,
    )
    assert [tensor.layer for tensor in header.tensors] == [None, None, 0, 1, 2]
    assert header.tensors[0].size == 256
    assert header.complete
    assert not header.has_chat_template


def test_the_demo_model_is_complete_to_the_byte() -> None:
    (header,) = check_model(find_model("demo").path)
    assert header.bytes_needed == header.bytes_there
    assert (header.architecture, header.layers, header.context) == ("llama", 30, 8192)


def test_a_truncated_file_is_reported_with_its_size(tmp_path: Path) -> None:
    whole = make_gguf(tmp_path / "tiny.gguf").read_bytes()
    for size in range(0, len(whole), 501):
        cut = tmp_path / "cut.gguf"
        cut.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match=r"truncated|is empty"):
            check_model(cut)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<!DOCTYPE html><html>404</html>", "web page"),
        (b"\n  <html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00", "pointer"),
        (b"", "empty"),
        (b"\x80\x02}q\x00(X", "PyTorch checkpoint"),
        (b"PK\x03\x04" + bytes(60), "PyTorch checkpoint or an archive"),
        (b"\x58" + bytes(7) + b'{"weight": {}}', "safetensors"),
        (b"tjgg" + bytes(60), "old format of llama.cpp"),
        (bytes(64), "starts with other bytes"),
        (b"GGUF\x00\x00\x00\x03" + bytes(16), "big-endian"),
        (b"GGUF\x63\x00\x00\x00" + bytes(16), "version 99"),
        (b"GGUF\x03\x00\x00\x00" + b"\xff" * 16, "broken"),
    ],
)
def test_a_file_that_is_not_a_model_is_named_for_its_content(
    tmp_path: Path, content: bytes, says: str
) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelFileError, match=says) as caught:
        check_model(file)
    assert str(file) in str(caught.value)


def test_a_missing_file_and_a_folder_are_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="does not exist"):
        check_model(tmp_path / "none.gguf")
    with pytest.raises(ModelFileError, match="can't be read"):
        check_model(tmp_path)


def test_a_vocabulary_without_weights_and_an_encoder_are_rejected(
    tmp_path: Path,
) -> None:
    with pytest.raises(ModelFileError, match="no weights"):
        check_model(make_gguf(tmp_path / "vocab.gguf", tensors=0))
    with pytest.raises(ModelFileError, match="embedding model"):
        check_model(make_gguf(tmp_path / "bert.gguf", architecture="nomic-bert", pooling=True))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"kind": "adapter"}, "is a LoRA adapter, not a model"),
        ({"kind": "imatrix"}, "is an importance matrix, not a model"),
        ({"kind": "mmproj", "architecture": "clip"}, r"\(mmproj\), not a model"),
        ({"architecture": "clip"}, "that reads no text"),
        ({"architecture": "gpt9"}, "has the unknown architecture 'gpt9'"),
        ({"pooling": True}, r"is an embedding model \(qwen3\)"),
        ({"tokenizer": False}, "has no tokenizer"),
        ({"tensors": 0}, "has a vocabulary but no weights"),
    ],
)
def test_a_model_file_is_judged_by_its_content(
    tmp_path: Path, changes: dict[str, Any], fault: str
) -> None:
    with pytest.raises(ModelFileError, match=fault):
        check_model(make_gguf(tmp_path / "model.gguf", **changes))


def test_a_split_model_needs_all_its_parts(tmp_path: Path) -> None:
    first = make_gguf(tmp_path / "big-00001-of-00002.gguf")
    assert [part.name for part in list_parts(first)] == [
        "big-00001-of-00002.gguf",
        "big-00002-of-00002.gguf",
    ]
    with pytest.raises(ModelFileError, match="00002-of-00002"):
        check_model(first)
    make_gguf(tmp_path / "big-00002-of-00002.gguf")
    assert len(check_model(first)) == 2


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
)
@given(at=st.integers(0, 600), junk=st.binary(min_size=1, max_size=16))
def test_a_damaged_header_raises_an_error_and_never_crashes(
    tmp_path: Path, at: int, junk: bytes
) -> None:
    file = tmp_path / "tiny.gguf"
    if not file.exists():
        make_gguf(file)
    data = bytearray(file.read_bytes())
    data[at : at + len(junk)] = junk
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(data)
    with contextlib.suppress(ModelFileError):
        assert check_model(damaged)
