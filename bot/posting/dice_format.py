"""How a roll of dice reads on Discord."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.posting.escaping import escape_name
from bot.posting.graphemes import utf16_length
from bot.posting.split import MESSAGE_LIMIT

if TYPE_CHECKING:
    from bot.scenes.dice import DicePart, Die, Roll


def format_roll(roll: Roll, speaker: str) -> str:
    """Return who rolled what, how each die fell, dropped ones struck out, and what it comes to, as one message."""
    fell = "".join(_part(part, first=number == 0) for number, part in enumerate(roll.parts))
    line = f"🎲 **{escape_name(speaker)}** rolls `{roll.text}`: {fell} = **{roll.total}**"
    return (
        line
        if utf16_length(line) <= MESSAGE_LIMIT
        else f"🎲 **{escape_name(speaker)}** rolls `{roll.text}` = **{roll.total}**"
    )


def _part(part: DicePart, *, first: bool) -> str:
    sign = ("−" if first else " − ") if part.sign < 0 else ("" if first else " + ")
    if not part.dice:
        return f"{sign}{abs(part.total)}"
    fell = ", ".join(map(_die, part.dice))
    times = part.text.replace("x", "*").partition("*")[2]
    return f"{sign}({fell})" + (f" × {times}" if times else "")


def _die(die: Die) -> str:
    return str(die.value) if die.kept else f"~~{die.value}~~"
