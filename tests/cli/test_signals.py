"""Programs shut down cleanly on signals."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest

from bot.cli.run.signals import cancel_on_signals

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "SIGHUP"), reason="this system has no terminals that hang up"
)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Set the signals to the defaults of a program at a terminal, and restore them afterwards."""
    before = {
        number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


async def _waiting(until: float) -> str:
    cancel_on_signals()
    try:
        await asyncio.sleep(until)
    except asyncio.CancelledError:
        await asyncio.sleep(0.1)
        return "cancelled"
    return "not cancelled"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_cancels_the_program_once(number: signal.Signals) -> None:
    waiting = asyncio.create_task(_waiting(30))
    await asyncio.sleep(0)
    os.kill(os.getpid(), number)
    await asyncio.sleep(0.02)
    os.kill(os.getpid(), signal.SIGHUP)  # from the shell and from the system
    assert await waiting == "cancelled"


async def test_a_program_started_with_nohup_ignores_the_hangup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    waiting = asyncio.create_task(_waiting(0.2))
    await asyncio.sleep(0)
    os.kill(os.getpid(), signal.SIGHUP)
    assert await waiting == "not cancelled"
