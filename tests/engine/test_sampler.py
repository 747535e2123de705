"""Sampling. Tokens that are left out beforehand do not change the result."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import llama_cpp as lib
import numpy as np
import pytest

from bot.engine.local.llama import DecodeError, Model
from bot.engine.local.sampler import Sampler
from bot.engine.protocol import Sampling
from bot.weights.find_model import find_model

if TYPE_CHECKING:
    from collections.abc import Iterator

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
class FakeModel:
    """The attributes of a model that sampling without a grammar needs."""

    size: int = SIZE
    vocabulary: Any = None

    def piece(self, token: int) -> bytes:
        return f" {token}".encode()

    def encode(self, _text: str) -> list[int]:
        return [0]


def sample_natively(sampling: Sampling, seed: int, rounds: list[Logits]) -> list[int]:
    """Sample from all tokens with one chain of all samplers, in llama.cpp's own order."""
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
    tokens: list[int] = []
    for logits in rounds:
        data = (lib.llama_token_data * SIZE)(
            *(lib.llama_token_data(token, logit, 0.0) for token, logit in enumerate(logits))
        )
        array = lib.llama_token_data_array(data, SIZE, -1, False)
        lib.llama_sampler_apply(chain, ctypes.byref(array))
        tokens.append(int(array.data[array.selected].id))
        lib.llama_sampler_accept(chain, tokens[-1])
    lib.llama_sampler_free(chain)
    return tokens


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@pytest.mark.parametrize("spread", [0.5, 3.0, 10.0])
def test_a_seed_gives_the_same_tokens_as_sampling_from_the_whole_vocabulary(
    sampling: Sampling, spread: float
) -> None:
    rng = np.random.default_rng(7)
    rounds: list[Logits] = [rng.normal(0.0, spread, SIZE).astype(np.float32) for _ in range(30)]
    sampler = Sampler(FakeModel(), sampling, 11, None)  # type: ignore[arg-type] # see FakeModel
    ours = [sampler.sample(logits) for logits in rounds]
    sampler.free()
    for one, other, logits in zip(ours, sample_natively(sampling, 11, rounds), rounds, strict=True):
        assert abs(_quantile(logits, one) - _quantile(logits, other)) < 0.01, (
            "the same token, except for the probability of the tail"
        )


def _quantile(logits: Logits, token: int) -> float:
    """Return the total probability of all likelier tokens, plus half of the token's own."""
    chances = np.exp(logits - logits.max(), dtype=np.float64)
    return float((chances[logits > logits[token]].sum() + chances[token] / 2) / chances.sum())


def test_a_penalty_on_the_best_token_brings_back_tokens_far_below_it() -> None:
    logits = np.full(SIZE, -30.0, np.float32)
    logits[0] = 20.0
    logits[1:9] = np.linspace(5.0, 6.5, 8)
    sampling = Sampling(temperature=1.0, top_p=1.0, min_p=0.05, repeat_penalty=3.0)
    sampler = Sampler(FakeModel(), sampling, 11, None)  # type: ignore[arg-type] # see FakeModel
    tokens = [sampler.sample(logits) for _ in range(30)]
    sampler.free()
    assert tokens == sample_natively(sampling, 11, [logits] * 30)
    assert tokens[0] == 0
    assert len(set(tokens)) > 3


def test_a_reward_for_repetition_can_raise_a_token_from_far_below() -> None:
    logits = np.full(SIZE, -30.0, np.float32)
    logits[0], logits[7] = 14.0, 11.5
    sampling = Sampling(temperature=0.0, top_p=1.0, min_p=0.1, repeat_penalty=0.8)
    sampler = Sampler(FakeModel(), sampling, 11, None)  # type: ignore[arg-type] # see FakeModel
    sampler.accept(7)
    sampler.accept(7)
    assert sampler.sample(logits) == 7
    sampler.free()


def test_a_high_temperature_gives_a_flat_tail_a_chance() -> None:
    logits = np.full(SIZE, -50.0, np.float32)
    logits[0], logits[1:40] = 10.0, -0.5
    rounds: list[Logits] = [logits] * 200
    sampling = Sampling(temperature=2.0, top_k=40, top_p=1.0)
    sampler = Sampler(FakeModel(), sampling, 11, None)  # type: ignore[arg-type] # see FakeModel
    ours = [sampler.sample(one) for one in rounds]
    sampler.free()
    assert ours == sample_natively(sampling, 11, rounds)
    assert 0 < sum(token != 0 for token in ours) < 100


@pytest.mark.parametrize("repeat_penalty", [1.0, 1.5])
@pytest.mark.parametrize("bad_value", [np.nan, np.inf, -np.inf])
def test_logits_that_are_not_finite_are_an_error_and_crash_nothing(
    bad_value: float, repeat_penalty: float
) -> None:
    logits = np.full(SIZE, bad_value if bad_value == -np.inf else 1.0, np.float32)
    logits[5] = bad_value
    sampler = Sampler(FakeModel(), Sampling(repeat_penalty=repeat_penalty), 11, None)  # type: ignore[arg-type] # see FakeModel
    with pytest.raises(DecodeError):
        sampler.sample(logits)
    sampler.free()


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    loaded = Model(find_model("demo").path, 0)
    yield loaded
    loaded.free()


def sample_after(model: Model, reply: str, options: dict[str, float], **sampling: Any) -> str:
    """Return the token that is sampled after `reply` if these tokens have these logits."""
    sampler = Sampler(
        model, Sampling(temperature=0.0, top_p=1.0, **sampling), 11, None, "Mr Bennet"
    )
    for token in model.encode(reply):
        sampler.accept(token)
    logits = np.full(model.size, -50.0, np.float32)
    for text, logit in options.items():
        (token,) = model.encode(text)
        logits[token] = logit
    chosen = sampler.sample(logits)
    sampler.free()
    return model.piece(chosen).decode()


LINES = "Mr Bennet: No.\n" * 6
THOUGHTS = "<role_thinking>Never again</role_thinking>\nNo. "


@pytest.mark.model
@pytest.mark.parametrize(("penalty", "value"), [("repeat_penalty", 3.0), ("dry", 3.0)])
def test_penalties_leave_tags_names_and_line_breaks_alone(
    model: Model, penalty: str, value: float
) -> None:
    sampling = {penalty: value}
    for reply, token in (
        (THOUGHTS * 6, "<"),
        (f"{THOUGHTS * 6}<", "role"),
        (f"{THOUGHTS * 6}<role", "_"),
        ("No.\nNo.\nNo.\nNo.", "\n"),
        (LINES, "Mr"),
        (f"{LINES}Mr", " Benn"),
    ):
        options = {token: 6.0, "x": 5.0}
        assert sample_after(model, reply, options, **sampling) == token, reply


@pytest.mark.model
@pytest.mark.parametrize(("penalty", "value"), [("repeat_penalty", 3.0), ("dry", 3.0)])
def test_penalties_still_affect_prose(model: Model, penalty: str, value: float) -> None:
    reply = "I see the old sea and the old house. I see the old"
    chosen = sample_after(model, reply, {" sea": 6.0, " x": 5.0}, **{penalty: value})
    assert chosen == " x"


@pytest.mark.model
def test_a_tag_does_not_make_the_words_behind_it_a_repeated_phrase(model: Model) -> None:
    reply = "<role_thinking>She waits</role_thinking>Yes.<role_thinking>"
    assert sample_after(model, reply, {"She": 6.0, "x": 5.5}, dry=3.0) == "She"
