"""What is changed after a way to load a model has failed."""

from __future__ import annotations

from typing import Any

import pytest

from bot.engine.local.load_attempts import LoadAttempt, LoadAttempts
from bot.engine.local.worker_messages import Load
from bot.weights import gguf_reader
from bot.weights.find_model import find_model

SMALL_GPU = (1000 * 2**20,)  # room for the demo model with a q8_0 cache only


def attempts(
    gpus_free: tuple[int, ...] = (), main_free: int = 2**34, **settings: Any
) -> LoadAttempts:
    defaults = {
        "path": "demo.gguf",
        "name": None,
        "context": None,
        "minds": None,
        "gpu_layers": "auto",
        "cache_type": None,
        "rpc": (),
        "host_memory": 0,
        "flash_attention": "auto",
        "threads": None,
        "check_memory": True,
    }
    headers = gguf_reader.check_model(find_model("demo").path)
    return LoadAttempts(Load(**{**defaults, **settings}), headers, gpus_free, main_free)


def first(found: LoadAttempts) -> LoadAttempt:
    attempt = found.choose_first()
    assert attempt
    return attempt


def step_down(found: LoadAttempts) -> list[LoadAttempt]:
    """Return all attempts if each one fails for another reason than memory."""
    chain = [first(found)]
    while following := found.choose_next(chain[-1]):
        chain.append(following)
    return chain


def test_every_automatic_choice_is_stepped_down_from_once() -> None:
    chain = step_down(attempts(SMALL_GPU))
    before, without_flash, on_cpu, smaller = chain
    assert before.plan.cache_type == "q8_0"
    assert before.plan.gpu_layers > 0
    assert (without_flash.flash_attention, without_flash.plan.cache_type) == ("off", "f16")
    assert without_flash.plan.gpu_layers > 0
    assert (on_cpu.plan.gpu_layers, on_cpu.uses_gpu) == (0, False)
    assert smaller.plan.context < on_cpu.plan.context
    assert smaller.describe_changes() == (
        "Flash attention failed and was switched off. "
        "The GPU failed, so the model runs on the CPU. "
        f"A context of {on_cpu.plan.context:,} tokens failed, so it has {smaller.plan.context:,}."
    )


def test_a_quantised_cache_is_stepped_down_from_if_flash_attention_is_fixed() -> None:
    found = attempts(SMALL_GPU, flash_attention="on", gpu_layers="all")
    before, after, *_ = step_down(found)
    assert (before.plan.cache_type, after.plan.cache_type) == ("q8_0", "f16")
    assert after.describe_changes() == "The q8_0 cache failed and was replaced by f16."
    assert after.flash_attention == "on"


def test_choices_of_the_settings_are_never_changed() -> None:
    found = attempts(
        SMALL_GPU,
        context=4096,
        minds=1,
        cache_type="f16",
        flash_attention="on",
        gpu_layers="all",
    )
    (only,) = step_down(found)
    assert (only.plan.context, only.plan.cache_type, only.flash_attention) == (4096, "f16", "on")
    assert only.plan.gpu_layers == only.plan.layers


def test_only_offload_is_to_blame_if_the_model_itself_cannot_be_loaded() -> None:
    found = attempts(SMALL_GPU)
    following = found.choose_next(first(found), model_loaded=False)
    assert following
    assert following.plan.gpu_layers == 0
    assert following.flash_attention == "auto"
    assert found.choose_next(following, model_loaded=False) is None


def test_the_next_smaller_plan_is_used_if_memory_runs_out() -> None:
    found = attempts()
    chain = [first(found)]
    while following := found.choose_next(chain[-1], out_of_memory=True):
        chain.append(following)
    sizes = [attempt.plan.main_bytes for attempt in chain]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) > 2
    assert chain[0].describe_changes() == ""
    assert chain[-1].describe_changes() == (
        f"Memory ran out, so a smaller plan was used: {chain[-1].plan}."
    )


def test_a_later_worker_skips_what_crashed_earlier_ones() -> None:
    chain = step_down(attempts(SMALL_GPU))
    assert first(attempts(SMALL_GPU, skip_choices=2)) == chain[2]
    assert first(attempts(SMALL_GPU, skip_choices=99)) == chain[-1]
    smaller = attempts().choose_next(first(attempts()), out_of_memory=True)
    assert first(attempts(skip_plans=1)) == smaller


@pytest.mark.parametrize("check_memory", [True, False])
def test_a_model_that_does_not_fit_is_refused_unless_memory_is_not_checked(
    check_memory: bool,
) -> None:
    found = attempts(main_free=10 * 2**20, check_memory=check_memory)
    assert (found.choose_first() is None) == check_memory
