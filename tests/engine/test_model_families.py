"""Models of other families than HER's play with their own chat templates."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.engine.protocol import Dialect, Sampling
from bot.her.beats import BeatKind
from bot.her.layout import Message, Role
from bot.her.prompt import Control, Prompt, Text
from bot.scenes.rehearsal import Rehearsal
from bot.scenes.reply_generation import ReplyLimits
from tests.engine.sample_prompts import listen, request
from tests.engine.tiny_models import (
    GEMMA_3,
    LLAMA_3,
    MAMBA,
    QWEN_3,
    ModelFamily,
    make_tiny_model,
)
from tests.scenes.scene_harness import STUDY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

GREEDY = Sampling(temperature=0.0, top_p=1.0)
LIMITS = ReplyLimits(max_tokens=1500, planning_tokens=200)


@asynccontextmanager
async def running(folder: Path, family: ModelFamily, **options: Any) -> AsyncIterator[LocalEngine]:
    path = make_tiny_model(folder / f"{family.architecture}.gguf", family)
    settings = {"model": str(path), "context": 8192, "minds": 2, "threads": 1, **options}
    engine = LocalEngine(LocalOptions(**settings))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


@pytest.mark.parametrize("family", [GEMMA_3, LLAMA_3, QWEN_3, MAMBA], ids=lambda f: f.architecture)
async def test_a_scene_of_ten_turns_keeps_hers_structure(
    tmp_path: Path, family: ModelFamily
) -> None:
    async with running(tmp_path, family, dialect=Dialect.STAND_IN) as engine:
        scene = Rehearsal(STUDY, engine, limits=LIMITS, seed=7)
        for number in range(5):
            scene.say("Elizabeth Bennet", f"*curtsies* You sent for me {number} times?")
            kinds = [beat.kind for beat in await scene.reply("Mr Bennet")]
            # Random weights write brackets too, and words in square brackets are a thought.
            assert kinds[:4] == [
                BeatKind.PLANNING,
                BeatKind.THOUGHT,
                BeatKind.ACTION,
                BeatKind.SPEECH,
            ]
        assert len(scene.story) == 10


@pytest.mark.parametrize("family", [GEMMA_3, LLAMA_3], ids=lambda f: f.architecture)
async def test_a_model_without_chatml_plays_with_its_own_template(
    tmp_path: Path, family: ModelFamily
) -> None:
    async with running(tmp_path, family) as engine:
        info = engine.info
        assert info.prompt_format is not None
        assert (info.dialect, info.stand_in, info.warning) == (Dialect.STAND_IN, True, None)
    async with running(tmp_path, family, dialect=Dialect.PLAIN) as engine:
        assert engine.info.dialect is Dialect.PLAIN


async def test_a_model_with_chatml_keeps_it(tmp_path: Path) -> None:
    async with running(tmp_path, QWEN_3) as engine:
        assert engine.info.prompt_format is None
        assert engine.info.dialect is Dialect.HER


async def test_a_model_without_chatml_and_template_gets_a_warning(tmp_path: Path) -> None:
    family = ModelFamily("llama", "{{ messages }}", "<s>", "</s>")
    async with running(tmp_path, family) as engine:
        assert engine.info.warning
        assert "chat template" in engine.info.warning
        assert (await listen(engine, request("Hello?", planning_tokens=None)))[1].reply_tokens


@pytest.mark.parametrize("family", [GEMMA_3, LLAMA_3], ids=lambda f: f.architecture)
async def test_a_model_whose_file_lacks_the_template_gets_that_of_its_family(
    tmp_path: Path, family: ModelFamily
) -> None:
    async with running(tmp_path, replace(family, template="")) as engine:
        assert engine.info.warning is None
        assert engine.info.prompt_format
        prompt = engine.info.prompt_format.render((Message(Role.USER, "Hello?"),), prefill="")
        assert prompt.text.startswith(family.bos + family.controls[0])


@pytest.mark.parametrize("family", [GEMMA_3, LLAMA_3], ids=lambda f: f.architecture)
async def test_control_tokens_of_the_template_count_as_one_and_typed_ones_do_not(
    tmp_path: Path, family: ModelFamily
) -> None:
    async with running(tmp_path, family) as engine:
        token = family.controls[0]
        bos = await engine.count(Prompt(()))
        assert await engine.count(Prompt((Control(token),))) == bos + 1
        assert await engine.count(Prompt((Text(token),))) == bos + len(token.encode()) - (
            token.count("th")
        )


@pytest.mark.parametrize("family", [GEMMA_3, LLAMA_3, QWEN_3], ids=lambda f: f.architecture)
async def test_a_prompt_begins_with_bos_once_and_only_if_the_model_wants_it(
    tmp_path: Path, family: ModelFamily
) -> None:
    async with running(tmp_path, family) as engine:
        text = Prompt((Text("a"),))
        assert await engine.count(text) == 1 + family.add_bos
        with_bos = Prompt((Control(family.bos), Text("a")))
        assert await engine.count(with_bos) == 2
        twice = Prompt((Control(family.bos), Control(family.bos), Text("a")))
        assert await engine.count(twice) == (2 if family.add_bos else 3)


async def test_a_sliding_window_model_continues_a_changed_prompt_correctly(tmp_path: Path) -> None:
    async with running(tmp_path, GEMMA_3) as engine:
        assert engine.info.prompt_format
        story = "It was a long story about the sea. " * 12  # beyond the window
        first, changed = [
            engine.info.prompt_format.render(
                (Message(Role.SYSTEM, story), Message(Role.USER, end)), prefill=""
            )
            for end in ("And then?", "And before?")
        ]
        await listen(engine, request("", prompt=first, mind="a", sampling=GREEDY))
        continued, finish = await listen(
            engine, request("", prompt=changed, mind="a", sampling=GREEDY)
        )
        assert finish.prompt_tokens_read < 40
    async with running(tmp_path, GEMMA_3) as engine:
        fresh, _ = await listen(engine, request("", prompt=changed, mind="a", sampling=GREEDY))
    assert continued[:12] == fresh[:12]


async def test_a_recurrent_model_reads_a_changed_prompt_from_its_start(tmp_path: Path) -> None:
    story = "It was a long story about the sea. " * 12
    async with running(tmp_path, MAMBA) as engine:
        first = request(f"{story}And then?", mind="a", sampling=GREEDY, planning_tokens=None)
        changed = request(f"{story}And before?", mind="a", sampling=GREEDY, planning_tokens=None)
        await listen(engine, first)
        continued, finish = await listen(engine, changed)
        assert finish.prompt_tokens_read == finish.prompt_tokens
    async with running(tmp_path, MAMBA) as engine:
        fresh, _ = await listen(engine, changed)
    assert continued[:12] == fresh[:12]


async def test_a_context_beyond_the_models_training_gives_a_warning(tmp_path: Path) -> None:
    path = make_tiny_model(tmp_path / "short.gguf", QWEN_3, context=512)
    engine = LocalEngine(LocalOptions(model=str(path), context=1024, minds=1, threads=1))
    await engine.start()
    try:
        assert engine.info.context == 1024
        assert engine.info.warning == (
            "The context has 1,024 tokens, but the model was trained with 512. "
            "Beyond that its replies get worse."
        )
    finally:
        await engine.close()
