"""`aside models imatrix` and `perplexity`, and builds and plans with an importance matrix."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.cli.models.importance_source import BuildTarget, ComputedImportance
from bot.errors import WeightsError
from bot.settings import load_settings
from bot.weights import gguf_reader
from bot.weights.build import Build, LocalSource
from bot.weights.fit import Memory
from bot.weights.importance_file import read_importance
from bot.weights.memory_plan import PlanRequest, make_plans
from tests.cli.conftest import complaint, data, put
from tests.engine.tiny_models import QWEN_3, make_tiny_model
from tests.weights.random_qwen3 import READING, make_checkpoint
from tests.weights.test_build import Steps

if TYPE_CHECKING:
    from typer.testing import Result

    from tests.cli.conftest import Aside


@pytest.fixture(autouse=True)
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty folder for weights and an unreachable hub."""
    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    put("aside.yaml", "engine:\n  weights: weights\n  threads: 1\n")
    put("text.txt", "\n".join(READING) * 10)
    return tmp_path / "weights"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_checkpoint(tmp_path_factory.mktemp("checkpoint") / "Tiny", num_hidden_layers=1)
    return made.folder


def output_of(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def test_a_small_quantisation_is_built_with_the_matrix_and_its_loss_is_measured(
    aside: Aside, checkpoint: Path, weights: Path
) -> None:
    """The second build computes the matrix from scenes that an interrupted one left."""
    build = ("models", "build", str(checkpoint), "--quant")
    full = output_of(aside(*build, "Q8_0"))
    matrix = output_of(aside("models", "imatrix", full, "--text", "text.txt", "--chunk", "64"))
    assert matrix == str(weights.relative_to(weights.parent) / "imatrix" / "Tiny.gguf")
    found = read_importance(weights / "imatrix" / "Tiny.gguf")
    assert (found.chunk_size, found.datasets) == (64, ("text.txt",))
    refused = aside(*build, "IQ3_XXS")
    assert refused.exit_code == 2
    assert "IQ3_XXS needs an importance matrix. Add `--imatrix auto`" in refused.stderr
    small = output_of(aside(*build, "IQ3_XXS", "--imatrix", matrix))
    losses = {}
    for path in (full, small):
        measured = data(
            aside("models", "perplexity", path, "--text", "text.txt", "--chunk", "64", "--json")
        )
        losses[path] = measured["perplexity"]
        assert measured["standard_error"] > 0
    assert losses[full] != losses[small]
    (weights / "imatrix" / "Tiny.gguf").rename(weights / "mine.gguf")
    put("weights/imatrix/Tiny.scenes.txt", "\n".join(READING) * 10)
    again = output_of(aside(*build, "Q4_K_M", "--imatrix", "auto"))
    values = gguf_reader.check_model(weights.parent / again)[0].values
    assert values["quantize.imatrix.dataset"] == "Tiny.scenes.txt"
    assert [path.name for path in (weights / "imatrix").iterdir()] == ["Tiny.gguf"]


def test_a_model_too_large_for_this_machine_lends_its_matrix_from_a_smaller_quantisation(
    checkpoint: Path, weights: Path, tmp_path: Path
) -> None:
    source = LocalSource(checkpoint)
    plain = Build(source, tmp_path / "Tiny.unquantised.gguf", "BF16", title="Tiny").run(Steps())
    target = BuildTarget(source, weights / "Tiny" / "Tiny-IQ3_S.gguf", "IQ3_S", "Tiny", "Tiny")
    put("weights/imatrix/Tiny.scenes.txt", "\n".join(READING) * 10)
    settings = load_settings()
    plans = make_plans(gguf_reader.check_model(plain), (), None, PlanRequest(minds=1))
    with pytest.raises(WeightsError, match="does not fit into this machine's memory"):
        ComputedImportance(target, settings, Memory((), 1000)).find(plain, Steps())
    steps = Steps()
    found = ComputedImportance(target, settings, Memory((), plans[-1].main_bytes - 1)).find(
        plain, steps
    )
    assert steps.heard == [
        "Quantising to Q8_0 for the importance matrix",
        "Computing the importance matrix",
    ]
    assert found == Path("weights/imatrix/Tiny.gguf")
    assert not list(tmp_path.glob("*.calibrating.gguf*"))


def test_the_model_plays_the_shipped_scenarios_for_its_matrix(aside: Aside, tmp_path: Path) -> None:
    model = make_tiny_model(tmp_path / "Nonsense.gguf", QWEN_3)
    few = ("--replies", "1", "--reply-tokens", "32")
    done = aside("models", "imatrix", str(model), *few, "--output", "m.gguf")
    assert output_of(done) == "m.gguf"
    assert "Playing scenes" in done.stderr
    found = read_importance(tmp_path / "m.gguf")
    assert found.datasets == ("m.scenes.txt",)
    assert found.chunks > 2
    assert not (tmp_path / "m.scenes.txt").exists()


def test_wrong_input_is_explained(aside: Aside, tmp_path: Path) -> None:
    model = str(make_tiny_model(tmp_path / "Nonsense.gguf", QWEN_3))
    put("short.txt", "Good morning.")
    refused = aside("models", "perplexity", model, "--text", "short.txt")
    assert refused.exit_code == 2
    assert "at least 1,024 are needed. Use a longer text" in refused.stderr
    missing = aside("models", "imatrix", model, "--text", "none.txt")
    assert "none.txt can't be read" in complaint(missing)
    absent = aside("models", "build", str(tmp_path), "--quant", "IQ3_S", "--imatrix", "none.gguf")
    assert "importance matrix none.gguf can't be read" in absent.stderr


@pytest.mark.parametrize(
    ("vram", "best"), [("12GiB", "IQ2_S*"), ("16GiB", "IQ3_XS*"), ("24GiB", "Q4_K_M")]
)
def test_fit_shows_its_arrow_at_80_columns(
    aside: Aside, monkeypatch: pytest.MonkeyPatch, vram: str, best: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = output_of(aside("models", "fit", "HER-32B", "--offline", "--vram", vram))
    (line,) = [line for line in shown.splitlines() if "→" in line]
    assert line.split()[1] == best
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown.replace("build …", "")
    assert "* needs an importance matrix" in shown
