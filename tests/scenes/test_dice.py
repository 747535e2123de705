from __future__ import annotations

import contextlib
import random  # noqa: TC003 - hypothesis reads annotations
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UserInputError
from bot.posting.dice_format import format_roll
from bot.scenes.dice import MAX_DICE, MAX_SIDES, Die, roll_dice


def falls(*values: int) -> object:
    """Return dice that roll these values over and over."""
    endless = cycle(values)
    return lambda _most: next(endless)


def roll(text: str, *values: int) -> int:
    return roll_dice(text, falls(*values)).total  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "values", "total"),
    [
        ("2d6+3", (4, 2), 9),
        ("2D6 + 3", (4, 2), 9),
        ("d20", (17,), 17),
        ("1d20-5", (3,), -2),
        ("-1d4", (3,), -3),
        ("4d6kh3", (6, 1, 5, 3), 14),
        ("4d6k3", (6, 1, 5, 3), 14),
        ("4d6dl1", (6, 1, 5, 3), 14),
        ("4d6kl1", (6, 1, 5, 3), 1),
        ("4d6dh1", (6, 1, 5, 3), 9),
        ("2d6kh9", (2, 3), 5),
        ("2d6dl9", (2, 3), 0),
        ("d20adv", (4, 18), 18),
        ("d20dis+2", (4, 18), 6),
        ("d%", (57,), 57),
        ("3d6!", (6, 2, 3, 1), 12),
        ("2d4*10", (1, 3), 40),
        ("2d4+1d6-2", (1, 3, 5), 7),
        ("7", (), 7),
        ("d20 adv + 1", (4, 18), 19),
        ("2d4×10 − 5–1", (1, 3), 34),
    ],
)
def test_common_notations_are_rolled(text: str, values: tuple[int, ...], total: int) -> None:
    assert roll(text, *(values or (1,))) == total


LONG = ("9" * 150, "1" * 30 + "d6", "1d6" + "+1d6" * 80)


@pytest.mark.parametrize(
    "text", ["1000000000d6", "101d6", "60d6+60d6", "0d6", "d0", "2d1001", "1d1!", "3d20adv", *LONG]
)
def test_a_roll_that_is_too_large_is_refused(text: str) -> None:
    with pytest.raises(UserInputError) as refused:
        roll_dice(text, lambda most: most)
    assert str(refused.value).endswith((".", "`."))


@pytest.mark.parametrize(
    "text",
    [
        "d",
        "2d",
        "",
        "  ",
        "2d6+",
        "2d6 3d6",
        "six",
        "2d6+3;",
        "2d6--3",
        "٣d6",
        "2d6 7",
        "1d2 0",
        "d 1 0",
    ],
)
def test_a_text_that_is_not_a_roll_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UserInputError, match="2d6"):
        roll_dice(text, lambda most: most)


def test_exploding_dice_stop_at_a_hundred() -> None:
    assert len(roll_dice("3d6!", lambda most: most).parts[0].dice) == MAX_DICE


def test_a_roll_shows_each_die() -> None:
    four = roll_dice("4d6kh3-1+2d4*10", falls(6, 1, 5, 3, 2, 2))  # type: ignore[arg-type]
    assert four.parts[0].dice[1] == Die(1, kept=False)
    assert format_roll(four, "**Al**") == (
        "🎲 **\\*\\*Al\\*\\*** rolls `4d6kh3-1+2d4*10`: (6, ~~1~~, 5, 3) − 1 + (2, 2) × 10 = **53**"
    )


@given(st.integers(1, MAX_DICE), st.integers(1, MAX_SIDES), st.integers(0, 999), st.randoms())
def test_every_roll_is_within_its_bounds_and_fits_a_message(
    count: int, sides: int, more: int, chance: random.Random
) -> None:
    fell = roll_dice(f"{count}d{sides}kl{count}+{more}", lambda most: chance.randint(1, most))
    assert count + more <= fell.total <= count * sides + more
    assert len(format_roll(fell, "A" * 80)) <= 2000


@given(st.text(alphabet="0123456789dDkhl!%adv+-* x", max_size=60))
def test_any_text_is_either_rolled_or_refused(text: str) -> None:
    with contextlib.suppress(UserInputError):
        assert sum(len(part.dice) for part in roll_dice(text, lambda most: most).parts) <= MAX_DICE
