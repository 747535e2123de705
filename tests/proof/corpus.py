"""Hostile replies by the hundred, the same ones on every run: `PROOF_REPLIES` says how many, `PROOF_SEED` which."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from bot.engine.protocol import FinishReason
from bot.errors import EngineDied
from tests.engine.scripted import Scripted
from tests.her.replies import AFTER_THE_END, BROKEN, ODD, SWAPPED, Written, with_faults

SEED = int(os.environ.get("PROOF_SEED", "1813"))
REPLIES = int(os.environ.get("PROOF_REPLIES", "160"))


@dataclass(frozen=True, slots=True)
class Hostile:
    """A reply, how the engine gives it, and what people do about it then."""

    written: Written
    scripted: Scripted
    more: Scripted  # what it gives where a reply is to go on
    deed: str


DEEDS = ("", "Retry", "Continue", "◀", "edit", "hide", "rewind", "pry", "read", "reload")
"""What people do after a reply: nothing, press a button of it, …

A pair of tags that changed places comes alone: beside another fault nobody could tell it from a closer too many, and
what stands clear after a thought that lost its opener would have to be kept private for it."""


@st.composite
def hostile(draw: st.DrawFn) -> Hostile:
    """Any malformation, cut into any chunks, ended anywhere."""
    faulty = st.one_of(with_faults({**ODD, **BROKEN}, 4), with_faults({**ODD, **BROKEN, **SWAPPED}, 1))
    written = draw(faulty)
    text, error, reason = written.text, None, FinishReason.STOP
    match draw(st.sampled_from(("whole", "whole", "goes on", "cut", "dies"))):
        case "goes on":
            text += draw(st.sampled_from(AFTER_THE_END))
        case "cut" if not _undecided(written):
            text, reason = text[: draw(st.integers(0, len(text)))], FinishReason.LENGTH
        case "dies":
            text, error = text[: draw(st.integers(0, len(text)))], EngineDied("The model's worker died.")
        case _:
            pass
    chunk = draw(st.sampled_from((1, 3, 8, 40, 4000)))
    pause = draw(st.sampled_from((0.0, 0.0, 0.0005)))
    scripted = Scripted(text, chunk=chunk, pause=pause, error=error, reason=reason)
    more = "".join(piece.text for piece in written.role)
    return Hostile(written, scripted, Scripted(more, chunk=chunk, pause=pause), draw(st.sampled_from(DEEDS)))


def _undecided(written: Written) -> bool:
    """Whether some of it is plain words until a tag comes that a cut may take away."""
    return any(fault.endswith((" unopened", " swapped", " open bracket", " bracketed")) for fault in written.faults)


def corpus(count: int = REPLIES) -> list[Hostile]:
    """Draw so many."""
    drawn: list[Hostile] = []

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @seed(SEED)
    @given(hostile())
    def draw_one(reply: Hostile) -> None:
        drawn.append(reply)

    draw_one()
    return drawn
