"""Replies on a screen as they grow."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from bot.her.beats import BeatKind, action, planning, speech, thought
from bot.scenes.notices import Notice
from bot.scenes.scene import AT_TERMINAL, Place, Scene
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from bot.terminal.screen import Screen
from bot.terminal.terminal_delivery import TerminalDelivery
from tests.scenes.harness import STUDY

if TYPE_CHECKING:
    from bot.her.beats import Beat

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SCENE = Scene(1, Place(AT_TERMINAL, -1), STUDY, (AT_TERMINAL,), (), NOON)


def turn(*beats: Beat, kind: TurnKind = TurnKind.REPLY) -> Turn:
    return Turn(1, 1, kind, "Mr Bennet", TurnState.DONE, NOON, Take(1, 1, beats, "raw"))


@pytest.fixture
def out() -> StringIO:
    return StringIO()


@pytest.fixture
def stage(out: StringIO) -> TerminalDelivery:
    return TerminalDelivery(Screen(out))


def take(*beats: Beat) -> Take:
    return Take(1, 1, beats, "raw")


async def test_a_reply_is_written_once_however_it_grows(
    stage: TerminalDelivery, out: StringIO
) -> None:
    reply = (action("smiles"), speech("You refuse him?"), action("turns a page"))
    async with stage.thinking(SCENE, turn()):
        await stage.progress(SCENE, turn(), (action("smi"),))
        assert out.getvalue() == "Mr Bennet: *smi"
        await stage.progress(SCENE, turn(), (action("smiles"), speech("You re")))
        assert out.getvalue() == "Mr Bennet: *smiles* You re"
        await stage.progress(SCENE, turn(), (*reply[:2], action("turns")))
    await stage.deliver(SCENE, turn(), take(*reply))
    assert out.getvalue() == "Mr Bennet: *smiles* You refuse him? *turns a page*\n"


async def test_a_reply_that_became_another_is_written_anew(
    stage: TerminalDelivery, out: StringIO
) -> None:
    async with stage.thinking(SCENE, turn()):
        await stage.progress(SCENE, turn(), (speech("You ref"),))
        await stage.progress(SCENE, turn(), (action("nods"),))
    await stage.deliver(SCENE, turn(), take(action("nods"), speech("So.")))
    assert out.getvalue() == "Mr Bennet: You ref\n(begins anew)\nMr Bennet: *nods* So.\n"


async def test_only_the_thoughts_that_were_asked_for_are_shown(
    stage: TerminalDelivery, out: StringIO
) -> None:
    secretive = take(planning("PLAN"), thought("SECRET"), speech("Well."))
    await stage.deliver(SCENE, turn(), secretive)
    assert out.getvalue() == "Mr Bennet: Well.\n"
    stage.showing = frozenset({BeatKind.THOUGHT})
    await stage.deliver(SCENE, turn(), secretive)
    assert out.getvalue() == "Mr Bennet: Well.\nMr Bennet: Well.\n  💭 SECRET\n"


async def test_what_goes_wrong_begins_on_a_line_of_its_own(
    stage: TerminalDelivery, out: StringIO
) -> None:
    async with stage.thinking(SCENE, turn()):
        await stage.progress(SCENE, turn(), (speech("You ref"),))
    await stage.fail(SCENE, turn(), "The model is gone.")
    await stage.announce(SCENE, Notice("The story is long."))
    await stage.withdraw(SCENE, turn())
    await stage.cover(SCENE, turn())
    assert out.getvalue().splitlines() == [
        "Mr Bennet: You ref",
        "⚠ The model is gone. (`retry` asks once more.)",
        "The story is long.",
        "Mr Bennet says no more: that reply does not count.",
        "What Mr Bennet said is out of the story.",
    ]


def test_what_was_whispered_is_not_told_again(stage: TerminalDelivery, out: StringIO) -> None:
    stage.retell(turn(speech("Trust nobody."), kind=TurnKind.WHISPER))
    stage.retell(turn(speech("Good morning."), kind=TurnKind.LINE))
    assert out.getvalue() == "Mr Bennet: Good morning.\n"
