"""Formats rolls of dice for Discord."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.posting.escaping import escape_name
from bot.posting.graphemes import utf16_length
from bot.posting.split import MESSAGE_LIMIT

if TYPE_CHECKING:
    from bot.scenes.dice import DicePart, Die, Roll


def format_roll(roll: Roll, speaker: str) -> str:
    """Return one message with the speaker, the dice and the total.

    Dropped dice are struck out. If the message would be too long, it has the total only.
    """
    dice = "".join(_format_part(part, first=number == 0) for number, part in enumerate(roll.parts))
    start = f"🎲 **{escape_name(speaker)}** rolls `{roll.text}`"
    line = f"{start}: {dice} = **{roll.total}**"
    return line if utf16_length(line) <= MESSAGE_LIMIT else f"{start} = **{roll.total}**"


def _format_part(part: DicePart, *, first: bool) -> str:
    sign = ("−" if first else " − ") if part.sign < 0 else ("" if first else " + ")
    if not part.dice:
        return f"{sign}{abs(part.total)}"
    dice = ", ".join(map(_format_die, part.dice))
    times = part.text.replace("x", "*").partition("*")[2]
    return f"{sign}({dice})" + (f" × {times}" if times else "")


def _format_die(die: Die) -> str:
    return str(die.value) if die.kept else f"~~{die.value}~~"
