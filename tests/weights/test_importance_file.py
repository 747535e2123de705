"""Importance matrices are read and written in llama.cpp's formats."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gguf import GGUFReader, GGUFWriter
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import WeightsError
from bot.weights.importance_file import read_importance, write_importance
from bot.weights.importance_matrix import ColumnSums, ImportanceMatrix
from tests.weights.sample_gguf import make_gguf

if TYPE_CHECKING:
    from pathlib import Path

DENSE = ColumnSums(np.array([[2, 4, 6]], np.float32), np.array([2], np.float32))
EXPERTS = ColumnSums(np.array([[3, 9], [0, 0]], np.float32), np.array([3, 0], np.float32))
MATRIX = ImportanceMatrix({"blk.0.a.weight": DENSE, "blk.0.b.weight": EXPERTS}, 5, 512, ("t.txt",))


def test_a_written_matrix_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "m.gguf"
    write_importance(path, MATRIX)
    found = read_importance(path)
    assert (found.chunks, found.chunk_size, found.datasets) == (5, 512, ("t.txt",))
    for name, one in MATRIX.tensors.items():
        assert np.array_equal(found.tensors[name].sums, one.sums)
        assert np.array_equal(found.tensors[name].counts, one.counts)
    assert [file.name for file in path.parent.iterdir()] == ["m.gguf"]


def test_the_file_has_llama_cpps_keys_and_shapes(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    write_importance(path, MATRIX)
    reader = GGUFReader(path)
    said = {name: field.contents() for name, field in reader.fields.items() if "." in name}
    assert said["general.type"] == "imatrix"
    assert said["imatrix.datasets"] == ["t.txt"]
    assert (said["imatrix.chunk_count"], said["imatrix.chunk_size"]) == (5, 512)
    shapes = {tensor.name: tensor.shape.tolist() for tensor in reader.tensors}
    assert shapes["blk.0.b.weight.in_sum2"] == [2, 2]
    assert shapes["blk.0.b.weight.counts"] == [1, 2]


def test_columns_without_data_weigh_one() -> None:
    assert DENSE.mean_squares().tolist() == [1, 2, 3]
    assert EXPERTS.mean_squares().tolist() == [1, 3, 1, 1]
    assert MATRIX.partial == ("blk.0.b.weight",)


@given(st.lists(st.floats(0, 1e6, width=32), min_size=1, max_size=20), st.integers(1, 1000))
def test_the_mean_square_is_the_sum_over_the_count(sums: list[float], count: int) -> None:
    one = ColumnSums(np.array([sums], np.float32), np.array([count], np.float32))
    expected = np.array(sums, np.float32) / np.float32(count)
    assert np.allclose(one.mean_squares(), expected, rtol=1e-6)


def legacy(*, ending: bytes = struct.pack("<ii5s", 7, 5, b"t.txt")) -> bytes:
    """Return a `.dat` file: the mean squares 1, 2 and 3 times 7 calls."""
    name = b"blk.0.a.weight"
    values = struct.pack("<3f", 7, 14, 21)
    return struct.pack("<ii", 1, len(name)) + name + struct.pack("<ii", 7, 3) + values + ending


@pytest.mark.parametrize(("ending", "chunks"), [(None, 7), (b"", 0)])
def test_an_older_file_is_read(tmp_path: Path, ending: bytes | None, chunks: int) -> None:
    path = tmp_path / "m.dat"
    path.write_bytes(legacy() if ending is None else legacy(ending=ending))
    found = read_importance(path)
    assert found.tensors["blk.0.a.weight"].mean_squares().tolist() == [1, 2, 3]
    assert found.chunks == chunks


def test_a_file_without_a_matrix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="can't be read"):
        read_importance(tmp_path / "none.gguf")
    with pytest.raises(WeightsError, match="without an importance matrix"):
        read_importance(make_gguf(tmp_path / "model.gguf"))
    empty = tmp_path / "empty.gguf"
    writer = GGUFWriter(empty, "")
    writer.add_type("imatrix")
    writer.add_tensor("blk.0.a.weight.in_sum2", np.zeros((1, 3), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(WeightsError, match="not a complete importance matrix"):
        read_importance(empty)


@settings(max_examples=60)
@given(st.data())
def test_a_truncated_file_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    whole = folder / "whole.gguf"
    write_importance(whole, MATRIX)
    content = data.draw(st.sampled_from([whole.read_bytes()[:-32], legacy(ending=b"")]))
    cut = folder / "cut"
    cut.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(WeightsError):
        read_importance(cut)
