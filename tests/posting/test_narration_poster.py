"""Narrations and changes of the setting as messages."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from bot.her.beats import speech
from bot.library.scenario import NARRATOR
from bot.posting.graphemes import utf16_length
from bot.posting.narration_poster import render_narration
from bot.posting.split import MESSAGE_LIMIT
from bot.scenes import mind
from bot.scenes.turn import Take, Turn, TurnKind, TurnState

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def render(text: str, speaker: str = NARRATOR) -> list[str]:
    kind = TurnKind.NARRATION if speaker == NARRATOR else TurnKind.SETTING
    take = Take(1, 1, (speech(text),), text)
    return render_narration(Turn(1, 1, kind, speaker, TurnState.DONE, NOON, take), take)


def test_a_narration_is_a_quotation_with_each_line_in_italics() -> None:
    assert render("Rain.\nWind.") == [">>> *Rain.*\n*Wind.*"]


def test_a_change_of_the_setting_is_labelled() -> None:
    assert render("The terrace", mind.PLACE) == [">>> **Place** *The terrace*"]


def test_a_narration_has_no_formatting_or_mentions_of_its_own() -> None:
    (message,) = render("||@everyone|| *<@1> # x")
    assert "@everyone" not in message
    assert "||" not in message
    assert "<@1>" not in message


@given(st.text(min_size=1, max_size=4000))
def test_every_part_of_a_narration_fits_into_a_message(text: str) -> None:
    for message in render(text):
        assert utf16_length(message) <= MESSAGE_LIMIT
        assert message.startswith(">>> ")
