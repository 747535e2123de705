"""Hostile replies, the same on every run.

`PROOF_REPLIES` sets their number, `PROOF_SEED` the choice.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from bot.engine.protocol import FinishReason
from bot.errors import EngineDied
from tests.engine.scripted_engine import Scripted
from tests.her.sample_replies import (
    DOUBTFUL_FAULTS,
    HARMLESS_FAULTS,
    SWAPPED_TAGS,
    TEXT_AFTER_THE_END,
    SampleReply,
    add_faults,
    choose_well_formed_reply,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.her.sample_replies import Choose

SEED = int(os.environ.get("PROOF_SEED", "1813"))
REPLIES = int(os.environ.get("PROOF_REPLIES", "320"))
ALL = 10_000
"""The number of replies. Every run parses all of them, and plays `PROOF_REPLIES` of them."""


@dataclass(frozen=True, slots=True)
class Hostile:
    """A reply as the engine streams it, and the text that it adds if the reply is continued."""

    written: SampleReply
    scripted: Scripted
    more: Scripted


def corpus(count: int) -> Iterator[Hostile]:
    """Return this many malformed replies, cut into chunks of any size, with any end."""
    chance = Random(SEED)
    for _ in range(count):
        yield _hostile(chance.choice)


def _hostile(pick: Choose) -> Hostile:
    kinds, at_most = pick(
        (
            ({**HARMLESS_FAULTS, **DOUBTFUL_FAULTS}, 4),
            ({**HARMLESS_FAULTS, **DOUBTFUL_FAULTS, **SWAPPED_TAGS}, 2),
        )
    )
    written = add_faults(pick, choose_well_formed_reply(pick), kinds, at_most)
    text, error, reason = written.text, None, FinishReason.STOP
    match pick(("whole", "whole", "goes on", "cut", "dies")):
        case "goes on":
            text += pick(TEXT_AFTER_THE_END)
        case "cut" if not _undecided(written):
            text = text[: pick(range(len(text) + 1))]
            reason = FinishReason.LENGTH
        case "dies":
            text = text[: pick(range(len(text) + 1))]
            error = EngineDied("The model's worker died.")
        case _:
            pass
    chunk = pick((1, 3, 8, 40, 4000))
    pause = pick((0.0, 0.0, 0.0005))
    more = "".join(piece.text for piece in written.role)
    scripted = Scripted(text, chunk=chunk, pause=pause, error=error, reason=reason)
    return Hostile(written, scripted, Scripted(more, chunk=chunk, pause=pause))


def _undecided(written: SampleReply) -> bool:
    """Return whether a cut may turn the beginning of the text into plain words."""
    return any(
        fault.endswith((" unopened", " swapped", " open bracket", " bracketed"))
        for fault in written.faults
    )
