"""Rolls dice as people write them: `2d6+3`, `4d6kh3`, `d20adv-1`, `d%`, `3d6!`. All within limits.

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
# Not the whitespace between two numbers, which would merge into one.
_BLANK = re.compile(r"(?<![0-9])\s+|\s+(?![0-9])")
_SIGNS = str.maketrans("−–×", "--*")  # as keyboards and our own answers write them
_EXAMPLES = "Write a roll like `2d6+3`, `4d6kh3`, `d20adv` or `d%`."


@dataclass(frozen=True, slots=True)
class Die:
    """The value of one die, and whether it counts."""

    value: int
    kept: bool = True


@dataclass(frozen=True, slots=True)
class DicePart:
    """One part of a roll: dice or a number, and its signed contribution to the total."""

    text: str
    sign: int
    dice: tuple[Die, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Roll:
    """A roll as written, and its result."""

    text: str
    parts: tuple[DicePart, ...]

    @property
    def total(self) -> int:
        """The sum of all parts."""
        return sum(part.total for part in self.parts)


def roll_dice(text: str, chance: Callable[[int], int]) -> Roll:
    """Return the result of a roll. `chance(n)` returns a random number from 1 to n.

    Raises UserInputError if the text is not a roll, or has too many dice, sides or characters.
    """
    if len(text) > MAX_LENGTH:
        raise UserInputError(f"A roll can have at most {MAX_LENGTH} characters.")
    normalised = _BLANK.sub("", text.translate(_SIGNS)).lower()
    parts: list[DicePart] = []
    at = 0
    dice_left = MAX_DICE
    while at < len(normalised):
        found = _PART.match(normalised, at)
        if found is None or (parts and not found["sign"]):
            raise UserInputError(f"“{text.strip()[:60]}” is not a roll. {_EXAMPLES}")
        part = _roll_part(found, dice_left, chance)
        dice_left -= len(part.dice)
        parts.append(part)
        at = found.end()
    if not parts:
        raise UserInputError(f"The roll is empty. {_EXAMPLES}")
    return Roll(normalised, tuple(parts))


def _roll_part(found: re.Match[str], most: int, chance: Callable[[int], int]) -> DicePart:
    sign = -1 if found["sign"] == "-" else 1
    times = _parse_number(found["times"] or "1")
    text = found.group().lstrip("+-")
    if found["number"]:
        return DicePart(text, sign, (), sign * times * _parse_number(found["number"]))
    sides = 100 if found["sides"] == "%" else _parse_number(found["sides"])
    count = 2 if found["luck"] else _parse_number(found["count"] or "1")
    if found["luck"] and found["count"] not in ("", "1", "2"):
        raise UserInputError(
            "Advantage needs a single die. Write `d20adv`, or `4d6kh3` to keep the best of several."
        )
    if not 1 <= count <= most:
        raise UserInputError(f"A roll can have 1 to {MAX_DICE} dice.")
    if not 1 <= sides <= MAX_SIDES:
        raise UserInputError(f"A die can have 1 to {MAX_SIDES:,} sides.")
    values = [chance(sides) for _ in range(count)]
    if found["explodes"]:
        values = _explode(values, sides, most, chance)
    dice = _keep(values, found)
    return DicePart(text, sign, dice, sign * times * sum(die.value for die in dice if die.kept))


def _explode(values: list[int], sides: int, most: int, chance: Callable[[int], int]) -> list[int]:
    """Return the values with an extra die for each highest value, up to `most` dice."""
    if sides == 1:
        raise UserInputError(
            "A die with one side would explode without end. Use one with more sides."
        )
    rolled: list[int] = []
    pending = list(reversed(values))
    while pending:
        rolled.append(pending.pop())
        if rolled[-1] == sides and len(rolled) + len(pending) < most:
            pending.append(chance(sides))
    return rolled


def _keep(values: list[int], found: re.Match[str]) -> tuple[Die, ...]:
    keep = {"adv": "kh", "dis": "kl"}.get(found["luck"] or "", found["keep"])
    if not keep:
        return tuple(map(Die, values))
    number = min(_parse_number(found["kept"] or "1"), len(values))
    best_first = sorted(range(len(values)), key=lambda index: -values[index])
    best = best_first[:number]
    worst = best_first[len(values) - number :]
    kept = {"k": set(best), "kh": set(best), "kl": set(worst)}.get(keep)
    if kept is None:
        kept = set(best_first) - set(best if keep == "dh" else worst)
    return tuple(Die(value, index in kept) for index, value in enumerate(values))


def _parse_number(digits: str) -> int:
    if len(digits) > len(str(_LARGEST)) or (number := int(digits)) > _LARGEST:
        raise UserInputError(
            f"A number in a roll can be at most {_LARGEST:,}, and a roll can have at most "
            f"{MAX_DICE} dice."
        )
    return number
