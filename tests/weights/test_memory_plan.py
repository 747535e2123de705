"""Memory plans for devices of all sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.weights.gguf_reader import GgufFile, Tensor, Value
from bot.weights.memory_plan import PlanRequest, make_plans, make_smallest_plan

GIB = 2**30


def qwen32(gigabytes: float = 19.8) -> tuple[GgufFile, ...]:
    """Return the header of a Qwen3-32B quantised to this many GB."""
    each = int(gigabytes * 1e9 * 0.95 / 64)
    outer = int(gigabytes * 1e9 * 0.025)
    tensors = [Tensor(f"blk.{layer}.all.weight", layer * each, each) for layer in range(64)]
    tensors += [
        Tensor("token_embd.weight", 64 * each, outer),
        Tensor("output.weight", 64 * each + outer, outer),
    ]
    values: dict[str, Value] = {
        "general.architecture": "qwen3",
        "qwen3.block_count": 64,
        "qwen3.context_length": 32768,
        "qwen3.embedding_length": 5120,
        "qwen3.attention.head_count": 64,
        "qwen3.attention.head_count_kv": 8,
        "qwen3.attention.key_length": 128,
        "qwen3.attention.value_length": 128,
    }
    header = GgufFile(
        Path("qwen.gguf"), 0, 0, values, {"tokenizer.ggml.tokens": 151936}, tuple(tensors)
    )
    return (header,)


@pytest.mark.parametrize(
    ("gpu", "context", "minds", "cache"),
    [(80, 16384, 8, "f16"), (48, 16384, 8, "q8_0"), (32, 8192, 8, "q8_0"), (24, 8192, 4, "q8_0")],
)
def test_a_32b_model_on_common_gpus(gpu: int, context: int, minds: int, cache: str) -> None:
    best = make_plans(qwen32(), [gpu * GIB], 64 * GIB, PlanRequest())[0]
    assert (best.gpu_layers, best.layers) == (65, 65)
    assert (best.context, best.minds, best.cache_type) == (context, minds, cache)
    assert best.gpu_bytes <= gpu * GIB


def test_a_model_larger_than_the_gpu_is_split_with_main_memory() -> None:
    best = make_plans(qwen32(), [16 * GIB], 64 * GIB, PlanRequest())[0]
    assert 10 < best.gpu_layers < 65
    assert "of 65 layers on the GPU" in str(best)


def test_several_gpus_share_the_model() -> None:
    best = make_plans(qwen32(), [24 * GIB, 24 * GIB], 64 * GIB, PlanRequest())[0]
    assert (best.gpu_layers, best.minds) == (65, 8)


def test_without_a_gpu_the_plan_uses_the_cpu() -> None:
    best = make_plans(qwen32(), [], 64 * GIB, PlanRequest())[0]
    assert best.gpu_layers == 0
    assert str(best).startswith("on the CPU")
    assert not make_plans(qwen32(), [], 16 * GIB, PlanRequest())


def test_fixed_settings_are_kept() -> None:
    wishes = PlanRequest(context=4096, minds=3, cache_type="f16", gpu_layers=20)
    fitting = make_plans(qwen32(), [24 * GIB], 64 * GIB, wishes)
    assert [(plan.context, plan.minds, plan.cache_type, plan.gpu_layers) for plan in fitting] == [
        (4096, 3, "f16", 20)
    ]


def test_the_cache_is_not_quantised_without_flash_attention() -> None:
    fitting = make_plans(qwen32(), [48 * GIB], 64 * GIB, PlanRequest(flash_attention=False))
    assert {plan.cache_type for plan in fitting} == {"f16"}


def test_the_context_never_exceeds_the_trained_context() -> None:
    (header,) = qwen32()
    header.values["qwen3.context_length"] = 2048
    assert {plan.context for plan in make_plans((header,), [80 * GIB], None, PlanRequest())} == {
        2048
    }


@settings(deadline=None, max_examples=60)
@given(
    gpus=st.lists(st.integers(0, 100), max_size=3),
    main=st.integers(0, 200),
    size=st.floats(5, 70),
    minds=st.none() | st.integers(1, 16),
    context=st.none() | st.integers(512, 32768),
)
def test_every_plan_fits_and_plans_never_grow(
    gpus: list[int], main: int, size: float, minds: int | None, context: int | None
) -> None:
    headers = qwen32(size)
    wishes = PlanRequest(context=context, minds=minds)
    fitting = make_plans(headers, [gpu * GIB for gpu in gpus], main * GIB, wishes)
    for plan in fitting:
        assert plan.gpu_bytes <= sum(gpus) * GIB
        assert plan.gpu_layers == plan.layers or plan.main_bytes <= main * GIB
        assert minds in (None, plan.minds)
        assert context in (None, plan.context)
    whole = [plan.gpu_bytes for plan in fitting if plan.gpu_layers == plan.layers]
    assert all(plan.gpu_layers == plan.layers for plan in fitting[: len(whole)])
    if not fitting:
        assert make_smallest_plan(headers, wishes).main_bytes > main * GIB or gpus
