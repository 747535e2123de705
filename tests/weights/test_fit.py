"""Planned memory compared with llama.cpp's own use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bot.engine.local.llama import Context, ContextPlan, Model
from bot.errors import WeightsError
from bot.weights import gguf_reader
from bot.weights.catalogue import load_catalogue
from bot.weights.fit import Memory, estimate_headers, plan_quantisations, propose_model
from bot.weights.installed import weights_folder
from bot.weights.log_receiver import capture_log
from bot.weights.memory_plan import CacheType, PlanRequest, make_plans
from bot.weights.model_headers import measure
from bot.weights.quantisation import NEEDS_IMPORTANCE
from tests.weights.loopback_hub import LoopbackHub
from tests.weights.random_qwen3 import make_checkpoint
from tests.weights.test_build import built

if TYPE_CHECKING:
    from pathlib import Path

GIB = 2**30
NOTHING = PlanRequest()


@pytest.fixture(scope="module", params=["demo", "tiny", "tied"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "demo":
        from bot.weights.find_model import find_model

        return find_model("demo").path
    folder = tmp_path_factory.mktemp("fitting")
    made = make_checkpoint(
        folder / "c", tie_word_embeddings=request.param == "tied", num_hidden_layers=5
    )
    return built(made, folder / "Tiny-BF16.gguf")


@pytest.mark.parametrize(
    ("context", "minds", "cache"), [(512, 1, "f16"), (2048, 4, "f16"), (4096, 2, "q8_0")]
)
def test_the_planned_memory_matches_llama_cpps_own_log(
    model: Path, context: int, minds: int, cache: CacheType
) -> None:
    plan = make_plans(
        gguf_reader.check_model(model),
        [],
        None,
        PlanRequest(context=context, minds=minds, cache_type=cache),
    )[0]
    taken = taken_by_llama_cpp(model, ContextPlan(context, minds, 1, 512, cache, "auto"))
    mib = 2**20
    assert plan.cache_bytes / mib == pytest.approx(taken["KV"], abs=0.01)
    assert plan.weights_bytes / mib == pytest.approx(taken["model"], rel=0.02)
    assert (
        taken["compute"] <= plan.work_bytes / mib <= taken["compute"] * 1.5 + 32
    )  # too high rather than too low
    assert plan.main_bytes == plan.weights_bytes + plan.cache_bytes + plan.work_bytes


def taken_by_llama_cpp(path: Path, measures: ContextPlan) -> dict[str, float]:
    """Return the MiB of each buffer type, from llama.cpp's log."""
    with capture_log() as said:
        loaded = Model(path, 0)
        context = Context(loaded, measures)
    sizes: dict[str, float] = {}
    for kind, size in re.findall(
        r"CPU\S* +(model|KV|compute) buffer size *= *([\d.]+) MiB", b"".join(said).decode()
    ):
        sizes[kind] = sizes.get(kind, 0.0) + float(size)
    context.free()
    loaded.free()
    return sizes


@pytest.fixture(scope="module")
def her() -> dict[str, tuple[gguf_reader.GgufFile, ...]]:
    entry = load_catalogue()["HER-32B"]
    return estimate_headers([entry])["HER-32B"]


def test_estimated_sizes_match_published_files(
    her: dict[str, tuple[gguf_reader.GgufFile, ...]],
) -> None:
    sizes = {
        one.quantisation: one.size / 1e9
        for one in plan_quantisations(her, Memory((), None), NOTHING)
    }
    for quantisation, seen in {
        "Q3_K_M": 15.9,
        "IQ4_XS": 17.9,
        "Q4_K_M": 19.8,
        "Q5_K_M": 23.2,
        "Q6_K": 26.9,
        "Q8_0": 34.8,
        "BF16": 65.5,
    }.items():
        assert sizes[quantisation] == pytest.approx(seen, abs=0.1)


@pytest.mark.parametrize(
    ("gpus", "main", "best"),
    [
        ((80,), 64, "Q8_0"),
        ((48,), 64, "Q8_0"),
        ((24,), 64, "Q4_K_M"),
        ((16,), 64, "IQ3_XS"),
        ((12,), 64, "IQ2_S"),
        ((8,), 64, "Q4_K_M"),
        ((), 32, "Q4_K_M"),
        ((), 14, "Q2_K"),
        ((24, 24), 64, "Q8_0"),
        ((), 8, None),
    ],
)
def test_the_best_quantisation_for_each_machine(
    her: dict[str, tuple[gguf_reader.GgufFile, ...]],
    gpus: tuple[int, ...],
    main: int,
    best: str | None,
) -> None:
    found = plan_quantisations(her, Memory(tuple(one * GIB for one in gpus), main * GIB), NOTHING)
    marked = [one.quantisation for one in found if one.best]
    assert marked == ([best] if best else [])
    assert all((one.plan is None) == (one.lacking > 0) for one in found)


def test_an_importance_matrix_gives_16_gib_two_minds_of_8192_tokens(
    her: dict[str, tuple[gguf_reader.GgufFile, ...]],
) -> None:
    found = plan_quantisations(her, Memory((16 * GIB,), 64 * GIB), NOTHING)
    (best,) = [one for one in found if one.best]
    assert best.whole
    assert best.plan is not None
    assert (best.plan.minds, best.plan.context) == (2, 8192)
    assert best.quantisation in NEEDS_IMPORTANCE


def test_setup_proposes_no_model_with_two_bits_per_weight() -> None:
    entries = load_catalogue()
    memory = Memory((12 * GIB,), 64 * GIB)
    found = {
        name: plan_quantisations(one, memory, NOTHING)
        for name, one in estimate_headers(list(entries.values())).items()
    }
    proposed = propose_model(found, entries)
    assert proposed is not None
    assert proposed[0].stand_in


def test_dimensions_come_from_the_hub_or_else_from_the_catalogue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_checkpoint(tmp_path / "c")
    with LoopbackHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.put("Qwen/Qwen3-8B", "config.json", (made.folder / "config.json").read_bytes())
        told = measure("qwen3-8b", tmp_path, patience=30)
        assert told.source == "the hub's config.json"
        assert told.layouts["Q4_K_M"][0].layers == 3
        whole = measure("hf:Qwen/Qwen3-8B", tmp_path)
        assert whole.layouts["Q8_0"][0].vocabulary == 640
        path = built(made, tmp_path / "o-BF16.gguf")
        hub.put("Qwen/Tiny-GGUF", "Tiny-BF16.gguf", path.read_bytes())
        far = measure("hf:Qwen/Tiny-GGUF/Tiny-BF16.gguf", tmp_path)
        assert far.layouts["BF16"][0].tensors == gguf_reader.read_header(path).tensors
        hub.put("Qwen/Other", "config.json", b'{"architectures": ["MambaForCausalLM"]}')
        with pytest.raises(WeightsError, match="MambaForCausalLM"):
            measure("hf:Qwen/Other", tmp_path)
    told = measure("qwen3-8b", tmp_path)
    assert told.source == "the catalogue, because the hub can't be reached"
    assert told.layouts["Q4_K_M"][0].layers == 36


def test_a_local_file_is_measured_by_its_header() -> None:
    told = measure("demo", weights_folder())
    assert (told.source, list(told.layouts)) == ("the file's header", ["Q4_1"])
