"""The names that persona posts go out under."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.library.normalise import is_blank
from bot.posting.escaping import UNNAMED
from bot.posting.graphemes import clean, shorten, utf16_length

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_NAME_LENGTH = 80
"""How wide the name of a webhook or of its post may be."""

_HAIR_SPACE = "\u200a"
_REFUSED = re.compile("(c)(lyde)|(d)(iscord)", re.IGNORECASE | re.ASCII)
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


def format_webhook_name(name: str) -> str:
    """Return the name Discord accepts that looks most like this one: 1 to 80 wide, on one line, and neither "clyde"
    nor "discord" in it, in any case: there a hair space stands after the first letter.

    What turns the direction of writing or can't be seen is left out; a name of nothing else becomes NOBODY.
    """
    visible = " ".join(_INVISIBLE.sub("", clean(name)).split())
    if is_blank(visible):
        return UNNAMED
    return shorten(_REFUSED.sub(_parted, visible), MAX_NAME_LENGTH)


def assign_webhook_names(names: Iterable[str]) -> dict[str, str]:
    """Return a webhook name for each of these names, no two alike: later ones of the same look are numbered."""
    given: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        base = chosen = format_webhook_name(name)
        number = 2
        while chosen.casefold() in taken:
            ending = f" ({number})"
            chosen = shorten(base, MAX_NAME_LENGTH - utf16_length(ending)) + ending
            number += 1
        taken.add(chosen.casefold())
        given[name] = chosen
    return given


def _parted(found: re.Match[str]) -> str:
    first, rest = (part for part in found.groups() if part)
    return f"{first}{_HAIR_SPACE}{rest}"
