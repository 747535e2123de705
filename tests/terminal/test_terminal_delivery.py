"""Growing replies on a screen."""

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
from tests.scenes.scene_harness import STUDY

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
def delivery(out: StringIO) -> TerminalDelivery:
    return TerminalDelivery(Screen(out))


def take(*beats: Beat) -> Take:
    return Take(1, 1, beats, "raw")


async def test_a_growing_reply_is_written_once(delivery: TerminalDelivery, out: StringIO) -> None:
    reply = (action("smiles"), speech("You refuse him?"), action("turns a page"))
    async with delivery.show_thinking(SCENE, turn()):
        await delivery.progress(SCENE, turn(), (action("smi"),))
        assert out.getvalue() == "Mr Bennet: *smi"
        await delivery.progress(SCENE, turn(), (action("smiles"), speech("You re")))
        assert out.getvalue() == "Mr Bennet: *smiles* You re"
        await delivery.progress(SCENE, turn(), (*reply[:2], action("turns")))
    await delivery.deliver(SCENE, turn(), take(*reply))
    assert out.getvalue() == "Mr Bennet: *smiles* You refuse him? *turns a page*\n"


async def test_a_changed_reply_is_written_again(delivery: TerminalDelivery, out: StringIO) -> None:
    async with delivery.show_thinking(SCENE, turn()):
        await delivery.progress(SCENE, turn(), (speech("You ref"),))
        await delivery.progress(SCENE, turn(), (action("nods"),))
    await delivery.deliver(SCENE, turn(), take(action("nods"), speech("So.")))
    assert out.getvalue() == "Mr Bennet: You ref\n(starts over)\nMr Bennet: *nods* So.\n"


async def test_only_requested_thoughts_are_shown(delivery: TerminalDelivery, out: StringIO) -> None:
    secretive = take(planning("PLAN"), thought("SECRET"), speech("Well."))
    await delivery.deliver(SCENE, turn(), secretive)
    assert out.getvalue() == "Mr Bennet: Well.\n"
    delivery.showing = frozenset({BeatKind.THOUGHT})
    await delivery.deliver(SCENE, turn(), secretive)
    assert out.getvalue() == "Mr Bennet: Well.\nMr Bennet: Well.\n  💭 SECRET\n"


async def test_errors_and_notices_start_on_a_new_line(
    delivery: TerminalDelivery, out: StringIO
) -> None:
    async with delivery.show_thinking(SCENE, turn()):
        await delivery.progress(SCENE, turn(), (speech("You ref"),))
    await delivery.fail(SCENE, turn(), "The model is gone.")
    await delivery.announce(SCENE, Notice("The story is long."))
    await delivery.withdraw(SCENE, turn())
    await delivery.cover(SCENE, turn())
    assert out.getvalue().splitlines() == [
        "Mr Bennet: You ref",
        "⚠ The model is gone. Use `retry` to try again.",
        "The story is long.",
        "The reply of Mr Bennet was cancelled and does not count.",
        "The reply of Mr Bennet was removed from the story.",
    ]


def test_whispers_are_not_repeated(delivery: TerminalDelivery, out: StringIO) -> None:
    delivery.retell(turn(speech("Trust nobody."), kind=TurnKind.WHISPER))
    delivery.retell(turn(speech("Good morning."), kind=TurnKind.LINE))
    assert out.getvalue() == "Mr Bennet: Good morning.\n"
