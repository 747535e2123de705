"""Importance matrices and perplexities, computed by the real llama.cpp in its child process."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bot.engine.calibration.measurements import ModelRun, compute_importance, measure_perplexity
from bot.engine.calibration.perplexity import token_losses
from bot.errors import EngineError, UserInputError
from bot.weights.importance_file import read_importance
from tests.engine.tiny_models import EXPERTS, EXPERTS_USED, QWEN_3_MOE, make_tiny_model
from tests.weights.exact_llama import Llama
from tests.weights.random_qwen3 import READING, Checkpoint, make_checkpoint
from tests.weights.test_build import built

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 64
TEXT = "\n".join(READING[:2]) * 4


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return make_checkpoint(tmp_path_factory.mktemp("tiny") / "Tiny", dtype="F32")


@pytest.fixture(scope="module")
def model(checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(checkpoint, tmp_path_factory.mktemp("model") / "Tiny-F32.gguf", "F32")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_the_matrix_holds_the_squared_inputs_of_each_column(
    checkpoint: Checkpoint, model: Path, text: Path, tmp_path: Path
) -> None:
    heard: list[tuple[int, int]] = []
    output = tmp_path / "m.gguf"
    report = compute_importance(
        ModelRun(model, chunk=CHUNK, threads=1),
        [text],
        output,
        progress=lambda done, total: heard.append((done, total)),
    )
    tokens = checkpoint.tokenizer.encode(TEXT, add_special_tokens=False).ids
    chunks = len(tokens) // CHUNK
    assert report.chunks == chunks >= 2
    assert heard == [(done, chunks) for done in range(1, chunks + 1)]
    matrix = read_importance(output)
    assert (matrix.chunks, matrix.chunk_size, matrix.datasets) == (chunks, CHUNK, ("text.txt",))
    assert len(matrix.tensors) == 3 * 7  # the matrices of each layer, without the output
    query = matrix.tensors["blk.0.attn_q.weight"]
    embedded = checkpoint.tensors["model.embed_tokens.weight"][tokens[: chunks * CHUNK]]
    scale = np.sqrt(np.mean(embedded**2, axis=-1, keepdims=True) + 1e-6)
    inputs = embedded / scale * checkpoint.tensors["model.layers.0.input_layernorm.weight"]
    assert query.sums[0] == pytest.approx((inputs**2).sum(0), rel=1e-4)
    assert query.counts.tolist() == [chunks * CHUNK]


def test_each_expert_has_its_own_sums(text: Path, tmp_path: Path) -> None:
    model = make_tiny_model(tmp_path / "moe.gguf", QWEN_3_MOE)
    output = tmp_path / "m.gguf"
    report = compute_importance(ModelRun(model, chunk=CHUNK, threads=1), [text], output)
    tensors = read_importance(output).tensors
    router, experts = tensors["blk.1.ffn_gate_inp.weight"], tensors["blk.1.ffn_gate_exps.weight"]
    assert experts.sums.shape == (EXPERTS, router.sums.shape[1])
    assert experts.counts.sum() == EXPERTS_USED * router.counts.sum()
    # Each token's input reaches as many experts as are used.
    assert experts.sums.sum(0) == pytest.approx(EXPERTS_USED * router.sums[0], rel=1e-4)
    assert len(set(experts.counts.tolist())) > 1
    assert report.partial == tuple(name for name, one in tensors.items() if one.is_partial)


def test_perplexity_is_that_of_the_second_half_of_each_chunk(
    checkpoint: Checkpoint, model: Path, text: Path
) -> None:
    found = measure_perplexity(ModelRun(model, chunk=CHUNK, threads=1), [text])
    tokens = checkpoint.tokenizer.encode(TEXT, add_special_tokens=False).ids
    losses = []
    with Llama(model) as llama:
        for start in range(0, len(tokens) // CHUNK * CHUNK, CHUNK):
            chunk = tokens[start : start + CHUNK]
            logits = llama.logits(chunk).astype(np.float64)
            chances = np.exp(logits - logits.max(-1, keepdims=True))
            chances /= chances.sum(-1, keepdims=True)
            losses += [-math.log(chances[at - 1, chunk[at]]) for at in range(CHUNK // 2 + 1, CHUNK)]
    assert found.tokens == len(losses)
    assert found.value == pytest.approx(math.exp(np.mean(losses)), rel=1e-3)
    expected = found.value * np.std(losses) / math.sqrt(len(losses) - 1)
    assert found.error == pytest.approx(expected, rel=1e-2)


def test_the_loss_of_a_token_is_its_negative_log_likelihood() -> None:
    logits = np.log(np.array([[1, 2, 1], [8, 1, 1]], np.float32))
    assert token_losses(logits, [1, 2]) == pytest.approx([math.log(2), math.log(10)], rel=1e-6)


def test_control_tokens_in_a_text_count_only_if_they_are_wanted(
    model: Path, tmp_path: Path
) -> None:
    """As text, each `<|im_end|>` has several tokens. As a control token it has one."""
    text = tmp_path / "marks.txt"
    text.write_text("<|im_end|>" * 2 * CHUNK, encoding="utf-8")
    run = ModelRun(model, chunk=CHUNK, threads=1)
    as_text = compute_importance(run, [text], tmp_path / "a.gguf")
    as_control = compute_importance(run, [text], tmp_path / "b.gguf", control=True)
    assert as_text.chunks > as_control.chunks == 2


def test_a_short_text_is_refused(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "short.txt"
    text.write_text("It is a truth.", encoding="utf-8")
    output = tmp_path / "m.gguf"
    with pytest.raises(UserInputError, match=r"at least 128 are needed\. Use a longer text"):
        compute_importance(ModelRun(model, chunk=CHUNK), [text], output)
    assert not output.exists()


def test_an_interrupted_computation_leaves_no_file(model: Path, text: Path, tmp_path: Path) -> None:
    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    output = tmp_path / "matrix" / "m.gguf"
    with pytest.raises(KeyboardInterrupt):
        compute_importance(ModelRun(model, chunk=CHUNK), [text], output, progress=interrupt)
    assert not output.parent.exists()


def test_a_model_that_does_not_load_is_reported(text: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing else")
    with pytest.raises(EngineError, match=r"could not load broken\.gguf"):
        measure_perplexity(ModelRun(broken), [text])
