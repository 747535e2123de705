"""Predictions, narrations and thoughts of a real model: the demo model under llama.cpp."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.scenes.narrator import generate_narration
from bot.scenes.recollection import Recollection
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.speaker_prediction import NOBODY, predict_speaker
from tests.scenes.test_speaker_prediction import ODD, moment, odd_moment, turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]


@pytest.fixture
async def engine() -> AsyncIterator[LocalEngine]:
    local = LocalEngine(LocalOptions(context=2048, minds=1))
    await local.start()
    yield local
    await local.close()


async def test_a_real_model_predicts_narrates_and_thinks(
    engine: LocalEngine,
) -> None:
    seeds = iter(range(100))
    performance = ReplyGenerator(engine, ReplyLimits(), lambda: next(seeds))
    scene = moment().scene

    odd = odd_moment(turn("Jane", "What do you say to that?"))
    assert await predict_speaker(engine, odd) in {*ODD, NOBODY} - {"Jane"}

    generated = await generate_narration(
        performance, scene, Recollection((turn("Alice", author=9),))
    )
    (narration,) = (beat.text for beat in generated.beats)
    assert 1 <= len(re.findall(r"[.!?]", narration)) <= 3
    assert "Bennet" not in narration

    known = Recollection((turn("Alice", "Papa?", 9),))
    assembled = await performance.assemble(scene, "Mr Bennet", known)
    thoughts = await performance.think(scene, "Mr Bennet", assembled)
    assert all("<" not in beat.text for beat in thoughts)
