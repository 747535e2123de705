"""Qwen3, the architecture of HER, in a tiny size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.engine.protocol import Dialect, Sampling
from bot.engine_factory import create_engine_from
from bot.errors import ModelFileError
from bot.settings import LocalEngineSettings, SamplingSettings
from tests.engine.random_model import TINY, make_model
from tests.engine.sample_prompts import listen, request

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model") / "tiny.gguf", TINY)


def copy_with(model: Path, target: Path, old: bytes, new: bytes) -> Path:
    target.write_bytes(model.read_bytes().replace(old, new))
    return target


@pytest.mark.model
async def test_a_qwen3_given_by_path_counts_as_a_her_model(tiny: Path) -> None:
    engine = LocalEngine(LocalOptions(model=str(tiny), threads=1, minds=2))
    await engine.start()
    try:
        assert (engine.info.model, engine.info.dialect, engine.info.context) == (
            "Random Qwen3",
            Dialect.HER,
            512,
        )
        assert not engine.info.stand_in
        _, finish = await listen(engine, request("Hello?", planning_tokens=None))
        assert finish.reply_tokens > 0
    finally:
        await engine.close()


@pytest.mark.model
async def test_sampling_that_is_not_set_follows_the_recommendation(tiny: Path) -> None:
    sampling = SamplingSettings(temperature=0.0, dry=0.8)
    engine = create_engine_from(
        LocalEngineSettings(model=str(tiny), threads=1, minds=1, sampling=sampling)
    )
    await engine.start()
    try:
        assert engine.info.sampling == Sampling(temperature=0.0, top_p=0.9, dry=0.8)
    finally:
        await engine.close()


@pytest.mark.model
async def test_an_unknown_architecture_is_an_error_that_names_it(
    tiny: Path, tmp_path: Path
) -> None:
    model = copy_with(tiny, tmp_path / "unknown.gguf", b"qwen3", b"qwen0")
    engine = LocalEngine(LocalOptions(model=str(model), threads=1))
    with pytest.raises(ModelFileError, match=r"unknown\.gguf has the unknown architecture 'qwen0'"):
        await engine.start()
    await engine.close()


@pytest.mark.model
async def test_a_model_without_chatml_plays_with_a_warning(tiny: Path, tmp_path: Path) -> None:
    model = copy_with(tiny, tmp_path / "plain.gguf", b"<|im_start|>", b"<|xx_start|>")
    engine = LocalEngine(LocalOptions(model=str(model), threads=1, minds=1))
    await engine.start()
    try:
        assert engine.info.warning
        assert "ChatML" in engine.info.warning
        _, finish = await listen(engine, request("Hello?", planning_tokens=None))
        assert finish.reply_tokens > 0
    finally:
        await engine.close()
