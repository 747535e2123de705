"""The names that personas post under."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.library.normalise import is_blank
from bot.posting.escaping import UNNAMED
from bot.posting.graphemes import clean, shorten, utf16_length

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_NAME_LENGTH = 80
"""The length that Discord allows for the name of a webhook and of its posts."""

_HAIR_SPACE = "\u200a"
_REFUSED = re.compile("(c)(lyde)|(d)(iscord)", re.IGNORECASE | re.ASCII)
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


def format_webhook_name(name: str) -> str:
    """Return the name that looks most like this one and that Discord accepts.

    It has 1 to 80 UTF-16 units on one line. "clyde" and "discord", in any case, get a hair space
    after their first letter. Invisible characters and those that change the writing direction are
    removed. A name without visible characters becomes UNNAMED.
    """
    visible = " ".join(_INVISIBLE.sub("", clean(name)).split())
    if is_blank(visible):
        return UNNAMED
    return shorten(_REFUSED.sub(_insert_hair_space, visible), MAX_NAME_LENGTH)


def assign_webhook_names(names: Iterable[str]) -> dict[str, str]:
    """Return a different webhook name for each of these names.

    If several names would get the same one, the later ones are numbered.
    """
    assigned: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        base = chosen = format_webhook_name(name)
        number = 2
        while chosen.casefold() in taken:
            ending = f" ({number})"
            chosen = shorten(base, MAX_NAME_LENGTH - utf16_length(ending)) + ending
            number += 1
        taken.add(chosen.casefold())
        assigned[name] = chosen
    return assigned


def _insert_hair_space(match: re.Match[str]) -> str:
    first, rest = (part for part in match.groups() if part)
    return f"{first}{_HAIR_SPACE}{rest}"
