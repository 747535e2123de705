"""An importance matrix opens the smallest quantisations, and a wrong one is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from bot.errors import UserInputError, WeightsError
from bot.weights import gguf_reader
from bot.weights.build import Build, LocalSource
from bot.weights.importance_file import write_importance
from bot.weights.importance_matrix import ColumnSums, ImportanceMatrix
from bot.weights.quantisation import (
    NEEDS_IMPORTANCE,
    QUANTISATIONS,
    UNQUANTISED,
    has_importance,
    quantise,
)
from tests.weights.random_qwen3 import Checkpoint, make_checkpoint
from tests.weights.test_build import Steps, built

if TYPE_CHECKING:
    from pathlib import Path

    from bot.weights.build import BuildProgress


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return make_checkpoint(tmp_path_factory.mktemp("tiny") / "Tiny", num_hidden_layers=1)


@pytest.fixture(scope="module")
def plain(tiny: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tiny, tmp_path_factory.mktemp("plain") / "Tiny-BF16.gguf")


def columns(tiny: Checkpoint) -> dict[str, int]:
    config = tiny.config
    hidden, heads = config["hidden_size"], config["num_attention_heads"] * config["head_dim"]
    inputs = dict.fromkeys(("attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"), hidden)
    inputs |= {"attn_output": heads, "ffn_down": config["intermediate_size"]}
    return {f"blk.0.{name}.weight": size for name, size in inputs.items()}


def make_matrix(path: Path, sizes: dict[str, int], *, loud: int | None = None) -> Path:
    """Write a matrix of equal columns, or with one column that is used more than all others."""
    tensors = {}
    for name, size in sizes.items():
        sums = np.ones((1, size), np.float32)
        if loud is not None:
            sums[0, loud] = 1e6
        tensors[name] = ColumnSums(sums, np.ones(1, np.float32))
    write_importance(path, ImportanceMatrix(tensors, 2, 512, ("scenes.txt",)))
    return path


def test_the_quantisations_that_need_a_matrix_are_those_that_llama_cpp_refuses(
    plain: Path, tmp_path: Path
) -> None:
    """Without one it refuses the file, and writes nothing."""
    from bot.weights import llama_quantise

    warning = "actually completing this quantization will require an imatrix"
    for quantisation in (one for one in QUANTISATIONS if one not in UNQUANTISED):
        needs = warning in llama_quantise.report_sizes(plain, quantisation)
        assert needs == (quantisation in NEEDS_IMPORTANCE), quantisation
    with pytest.raises(UserInputError, match="IQ2_M needs an importance matrix"):
        quantise(plain, tmp_path / "o.gguf", "IQ2_M")


class Given:
    """An importance matrix that a test wrote."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.models: list[str] = []

    def find(self, unquantised: Path, told: BuildProgress) -> Path:
        del told
        self.models.append(unquantised.name)
        return self.path


def test_a_build_uses_the_matrix_and_says_so_in_its_header(
    tiny: Checkpoint, tmp_path: Path
) -> None:
    source, target = LocalSource(tiny.folder), tmp_path / "Tiny-IQ3_XXS.gguf"
    with pytest.raises(UserInputError, match="Add `--imatrix auto`"):
        Build(source, target, "IQ3_XXS")
    given = Given(make_matrix(tmp_path / "m.gguf", columns(tiny)))
    with pytest.raises(UserInputError, match="BF16 is not quantised"):
        Build(source, target, "BF16", importance=given)
    Build(source, target, "IQ3_XXS", title="Tiny", importance=given).run(Steps())
    values = gguf_reader.check_model(target)[0].values
    assert values["quantize.imatrix.dataset"] == "scenes.txt"
    assert values["quantize.imatrix.entries_count"] == 7
    assert values["quantize.imatrix.chunks_count"] == 2
    assert given.models == ["Tiny.unquantised.gguf"]


def test_a_file_that_was_built_without_the_matrix_is_built_again(
    tiny: Checkpoint, tmp_path: Path
) -> None:
    target = built(tiny, tmp_path / "Tiny-Q4_K_M.gguf", "Q4_K_M")
    assert not has_importance(target)
    given = Given(make_matrix(tmp_path / "m.gguf", columns(tiny)))
    for _ in range(2):
        Build(LocalSource(tiny.folder), target, "Q4_K_M", title="Tiny", importance=given).run(
            Steps()
        )
    assert has_importance(target)
    assert len(given.models) == 1  # the second run finds the file complete


def test_a_column_that_is_used_more_is_kept_more_exactly(
    tiny: Checkpoint, plain: Path, tmp_path: Path
) -> None:
    from gguf import GGUFReader
    from gguf.quants import dequantize

    name, loud = "blk.0.ffn_down.weight", 5
    original = tiny.tensors["model.layers.0.mlp.down_proj.weight"]

    def error(matrix: Path) -> float:
        target = tmp_path / f"{matrix.stem}-Q4_K_M.gguf"
        quantise(plain, target, "Q4_K_M", importance=matrix)
        (stored,) = [one for one in GGUFReader(target).tensors if one.name == name]
        values = dequantize(stored.data, stored.tensor_type)
        return float(np.abs(values[:, loud] - original[:, loud]).mean())

    even = make_matrix(tmp_path / "even.gguf", columns(tiny))
    uneven = make_matrix(tmp_path / "uneven.gguf", columns(tiny), loud=loud)
    assert error(uneven) < error(even) / 2


def test_a_matrix_of_another_model_is_refused(
    tiny: Checkpoint, plain: Path, tmp_path: Path
) -> None:
    target = tmp_path / "o.gguf"
    for sizes, words in (
        ({"blk.0.other.weight": 256}, "has no tensor of Tiny-BF16.gguf. Use the matrix of this"),
        (
            columns(tiny) | {"blk.0.ffn_up.weight": 512},
            "for blk.0.ffn_up.weight it has 512 columns instead of 256. Use the matrix of this",
        ),
        (
            {"blk.0.attn_q.weight": 256},
            "has no data for blk.0.attn_k.weight, which this quantisation needs",
        ),
    ):
        matrix = make_matrix(tmp_path / "m.gguf", sizes)
        with pytest.raises(WeightsError, match=words):
            quantise(plain, target, "IQ2_M", importance=matrix)
        assert not target.exists()
    (tmp_path / "m.gguf").write_bytes(b"nothing")
    with pytest.raises(WeightsError, match="not a complete importance matrix"):
        quantise(plain, target, "IQ2_M", importance=tmp_path / "m.gguf")
