"""llama.cpp's log reaches only a receiver that exists."""

from __future__ import annotations

import gc

import pytest

from bot.engine.local.llama import Model
from bot.weights.find_model import find_model
from bot.weights.log_receiver import capture_log

pytestmark = pytest.mark.model


def load() -> None:
    Model(find_model("demo").path, 0).free()


def test_a_capture_ends_with_its_block_and_the_one_around_it_continues() -> None:
    with capture_log() as outer:
        with capture_log() as inner:
            load()
        assert inner
        assert not outer
        count = len(inner)
        load()
    assert len(inner) == count
    assert outer


def test_llama_cpp_calls_nothing_that_a_finished_capture_has_freed() -> None:
    with capture_log() as said:
        load()
    count = len(said)
    gc.collect()
    load()  # would crash the process if the callback had been freed
    assert len(said) == count
