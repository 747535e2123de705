"""Drawing tokens: what is left out beforehand is only what native samplers leave out."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import llama_cpp as lib
import numpy as np
import pytest

from bot.engine.local.llama import DecodeError
from bot.engine.local.sampler import Sampler
from bot.engine.protocol import Sampling

if TYPE_CHECKING:
    from bot.engine.local.candidates import Logits

SIZE = 3000
SAMPLINGS = (
    Sampling(),
    Sampling(temperature=1.3, top_p=0.5),
    Sampling(top_k=20, top_p=0.8),
    Sampling(top_k=SIZE * 2, top_p=1.0),
    Sampling(top_p=1.0, min_p=0.05),
    Sampling(top_p=0.95, min_p=0.1),
    Sampling(top_p=1e-6),
    Sampling(temperature=0.0),
    Sampling(repeat_penalty=1.5, top_k=40),
    Sampling(repeat_penalty=1.5),
    Sampling(repeat_penalty=1.15, top_p=1.0, min_p=0.1, temperature=0.5),
    Sampling(repeat_penalty=3.0, top_p=1.0, min_p=0.05),
    Sampling(repeat_penalty=0.5, top_p=1.0, min_p=0.1),
    Sampling(temperature=2.0, top_k=1000, top_p=1.0),
    Sampling(temperature=3.0, top_p=0.999),
)


@dataclass
class Vocabulary:
    """As much of a model as drawing without a grammar needs."""

    size: int = SIZE
    vocabulary: Any = None


def native(sampling: Sampling, seed: int, rounds: list[Logits]) -> list[int]:
    """What one chain of all samplers, in llama.cpp's own order, draws from all tokens."""
    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    samplers = [lib.llama_sampler_init_penalties(SIZE, 64, sampling.repeat_penalty, 0.0, 0.0)]
    if sampling.temperature > 0:
        samplers += [
            lib.llama_sampler_init_top_k(sampling.top_k),
            lib.llama_sampler_init_top_p(sampling.top_p, 1),
            lib.llama_sampler_init_min_p(sampling.min_p, 1),
            lib.llama_sampler_init_temp(sampling.temperature),
            lib.llama_sampler_init_dist(seed),
        ]
    else:
        samplers.append(lib.llama_sampler_init_greedy())
    for sampler in samplers:
        lib.llama_sampler_chain_add(chain, sampler)
    drawn: list[int] = []
    for logits in rounds:
        tokens = (lib.llama_token_data * SIZE)(
            *(lib.llama_token_data(token, logit, 0.0) for token, logit in enumerate(logits))
        )
        array = lib.llama_token_data_array(tokens, SIZE, -1, False)
        lib.llama_sampler_apply(chain, ctypes.byref(array))
        drawn.append(int(array.data[array.selected].id))
        lib.llama_sampler_accept(chain, drawn[-1])
    lib.llama_sampler_free(chain)
    return drawn


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@pytest.mark.parametrize("spread", [0.5, 3.0, 10.0])
def test_a_seed_draws_what_native_samplers_draw_from_the_whole_vocabulary(
    sampling: Sampling, spread: float
) -> None:
    chance = np.random.default_rng(7)
    rounds: list[Logits] = [chance.normal(0.0, spread, SIZE).astype(np.float32) for _ in range(30)]
    draw = Sampler(Vocabulary(), sampling, 11, None)  # type: ignore[arg-type] # all that is needed of a model
    ours = [draw.next(logits) for logits in rounds]
    draw.free()
    for one, other, logits in zip(ours, native(sampling, 11, rounds), rounds, strict=True):
        assert abs(_place(logits, one) - _place(logits, other)) < 0.01, (
            "the same, but for what the tail adds up to"
        )


def _place(logits: Logits, token: int) -> float:
    """The share of all chance that tokens have which are likelier than `token`, and half of its own."""
    chances = np.exp(logits - logits.max(), dtype=np.float64)
    return float((chances[logits > logits[token]].sum() + chances[token] / 2) / chances.sum())


def test_where_a_penalty_lowers_the_best_token_far_those_that_were_far_below_it_count_too() -> None:
    logits = np.full(SIZE, -30.0, np.float32)
    logits[0], logits[1:9] = 20.0, np.linspace(5.0, 6.5, 8)
    sampling = Sampling(temperature=1.0, top_p=1.0, min_p=0.05, repeat_penalty=3.0)
    draw = Sampler(Vocabulary(), sampling, 11, None)  # type: ignore[arg-type] # all that is needed of a model
    drawn = [draw.next(logits) for _ in range(30)]
    draw.free()
    assert drawn == native(sampling, 11, [logits] * 30)
    assert drawn[0] == 0
    assert len(set(drawn)) > 3


def test_what_was_said_and_is_raised_counts_however_far_below_it_was() -> None:
    logits = np.full(SIZE, -30.0, np.float32)
    logits[0], logits[7] = 14.0, 11.5
    sampling = Sampling(temperature=0.0, top_p=1.0, min_p=0.1, repeat_penalty=0.8)
    draw = Sampler(Vocabulary(), sampling, 11, None)  # type: ignore[arg-type] # the same
    draw.accept(7)
    draw.accept(7)
    assert draw.next(logits) == 7
    draw.free()


def test_heat_makes_a_flat_tail_count() -> None:
    logits = np.full(SIZE, -50.0, np.float32)
    logits[0], logits[1:40] = 10.0, -0.5
    rounds: list[Logits] = [logits] * 200
    sampling = Sampling(temperature=2.0, top_k=40, top_p=1.0)
    draw = Sampler(Vocabulary(), sampling, 11, None)  # type: ignore[arg-type] # the same
    ours = [draw.next(one) for one in rounds]
    draw.free()
    assert ours == native(sampling, 11, rounds)
    assert 0 < sum(token != 0 for token in ours) < 100


@pytest.mark.parametrize("repeat_penalty", [1.0, 1.5])
@pytest.mark.parametrize("spoilt", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_an_error_and_end_nothing_natively(
    spoilt: float, repeat_penalty: float
) -> None:
    logits = np.full(SIZE, spoilt if spoilt == -np.inf else 1.0, np.float32)
    logits[5] = spoilt
    draw = Sampler(Vocabulary(), Sampling(repeat_penalty=repeat_penalty), 11, None)  # type: ignore[arg-type] # the same
    with pytest.raises(DecodeError):
        draw.next(logits)
    draw.free()
