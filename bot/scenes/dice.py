"""Dice as people write them: `2d6+3`, `4d6kh3`, `d20adv-1`, `d%`, `3d6!`. Bounded, whatever is asked for.

roll   = part (("+" | "-") part)*
part   = (dice | number) ("*" number)?
dice   = count? "d" (sides | "%") "!"? keep?
keep   = ("kh" | "kl" | "dh" | "dl" | "k") how-many?  |  "adv" | "dis"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import UserInputError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LENGTH: Final = 200
MAX_DICE: Final = 100
MAX_SIDES: Final = 1_000
_LARGEST = 1_000_000

_PART = re.compile(
    r"\s*(?P<sign>[+-])?\s*(?:(?P<count>[0-9]*)d(?P<sides>[0-9]+|%)(?P<explodes>!)?"
    r"(?:(?P<keep>kh|kl|dh|dl|k)(?P<kept>[0-9]*)|(?P<luck>adv|dis))?|(?P<number>[0-9]+))\s*"
    r"(?:[*x]\s*(?P<times>[0-9]+)\s*)?",
    re.IGNORECASE,
)
_BLANK = re.compile(
    r"(?<![0-9])\s+|\s+(?![0-9])"
)  # but between two numbers, which would be one without
_SIGNS = str.maketrans("−–×", "--*")  # as keyboards and our own answers write them
_HOW = "Write something like `2d6+3`, `4d6kh3`, `d20adv` or `d%`."


@dataclass(frozen=True, slots=True)
class Die:
    """One die as it fell, and whether it counts."""

    value: int
    kept: bool = True


@dataclass(frozen=True, slots=True)
class DicePart:
    """One part of a roll: dice or a number, its factor, and what it adds, its sign included."""

    text: str
    sign: int
    dice: tuple[Die, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Roll:
    """What was asked for and how it fell."""

    text: str
    parts: tuple[DicePart, ...]

    @property
    def total(self) -> int:
        """What it comes to."""
        return sum(part.total for part in self.parts)


def roll_dice(text: str, chance: Callable[[int], int]) -> Roll:
    """Roll the dice; `chance` gives 1 to as many as it is told. Raises UserInputError where the text is no roll, or
    is one of too many dice, sides or signs."""
    if len(text) > MAX_LENGTH:
        raise UserInputError(f"A roll may be {MAX_LENGTH} characters long: write less.")
    asked = _BLANK.sub("", text.translate(_SIGNS)).lower()
    parts: list[DicePart] = []
    at, left = 0, MAX_DICE
    while at < len(asked):
        found = _PART.match(asked, at)
        if found is None or (parts and not found["sign"]):
            raise UserInputError(f"“{text.strip()[:60]}” is no roll. {_HOW}")
        part = _fallen(found, left, chance)
        left -= len(part.dice)
        parts.append(part)
        at = found.end()
    if not parts:
        raise UserInputError(f"There is nothing to roll. {_HOW}")
    return Roll(asked, tuple(parts))


def _fallen(found: re.Match[str], most: int, chance: Callable[[int], int]) -> DicePart:
    sign, times = (-1 if found["sign"] == "-" else 1), _number(found["times"] or "1")
    text = found.group().lstrip("+-")
    if found["number"]:
        return DicePart(text, sign, (), sign * times * _number(found["number"]))
    sides = 100 if found["sides"] == "%" else _number(found["sides"])
    count = 2 if found["luck"] else _number(found["count"] or "1")
    if found["luck"] and found["count"] not in ("", "1", "2"):
        raise UserInputError(
            "Advantage is for a single die: write `d20adv`, or `4d6kh3` to keep the best of several."
        )
    if not 1 <= count <= most:
        raise UserInputError(f"A roll is of 1 to {MAX_DICE} dice: roll fewer.")
    if not 1 <= sides <= MAX_SIDES:
        raise UserInputError(f"A die has 1 to {MAX_SIDES:,} sides: take another one.")
    values = [chance(sides) for _ in range(count)]
    if found["explodes"]:
        values = _exploded(values, sides, most, chance)
    dice = _kept(values, found)
    return DicePart(text, sign, dice, sign * times * sum(die.value for die in dice if die.kept))


def _exploded(values: list[int], sides: int, most: int, chance: Callable[[int], int]) -> list[int]:
    """Roll again for every highest value, as long as there are dice."""
    if sides == 1:
        raise UserInputError("A die of one side would be rolled for ever: take one of more.")
    fallen: list[int] = []
    waiting = list(reversed(values))
    while waiting:
        fallen.append(waiting.pop())
        if fallen[-1] == sides and len(fallen) + len(waiting) < most:
            waiting.append(chance(sides))
    return fallen


def _kept(values: list[int], found: re.Match[str]) -> tuple[Die, ...]:
    keep = {"adv": "kh", "dis": "kl"}.get(found["luck"] or "", found["keep"])
    if not keep:
        return tuple(map(Die, values))
    some = min(_number(found["kept"] or "1"), len(values))
    best_first = sorted(range(len(values)), key=lambda index: -values[index])
    best, worst = best_first[:some], best_first[len(values) - some :]
    kept = {"k": set(best), "kh": set(best), "kl": set(worst)}.get(keep)
    if kept is None:
        kept = set(best_first) - set(best if keep == "dh" else worst)
    return tuple(Die(value, index in kept) for index, value in enumerate(values))


def _number(digits: str) -> int:
    if len(digits) > len(str(_LARGEST)) or (number := int(digits)) > _LARGEST:
        raise UserInputError(
            f"Numbers in a roll go up to {_LARGEST:,}, and a roll is of at most {MAX_DICE} dice."
        )
    return number
