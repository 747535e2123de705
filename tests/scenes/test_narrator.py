"""Narrations pass through the parser of replies: they contain no thinking."""

from __future__ import annotations

import pytest

from bot.scenes.narrator import filter_narration
from tests.her.test_preamble import PREAMBLES
from tests.her.test_thinking_formats import FAMILIES, SECRET, TAG_PAIRS
from tests.scenes.test_speaker_prediction import moment


@pytest.mark.parametrize(("opener", "closer"), FAMILIES)
def test_a_narration_contains_no_thinking_in_any_format(opener: str, closer: str) -> None:
    scene = moment().scene
    narration = filter_narration(scene, [], f"{opener}{SECRET}.{closer}Rain falls.")
    assert "SECRET" not in narration
    if (opener, closer) in TAG_PAIRS:
        assert narration == "Rain falls."
    assert "SECRET" not in filter_narration(scene, [], f"{opener}{SECRET}. Rain falls.")


@pytest.mark.parametrize("preamble", [text for text in PREAMBLES if "Elizabeth" not in text])
def test_a_narration_contains_no_talk_about_its_task(preamble: str) -> None:
    narration = filter_narration(moment().scene, [], f"{preamble}Rain falls.")
    assert narration == "Rain falls."
