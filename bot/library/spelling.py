"""The one spelling under which names are compared, however people write them."""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = "’‘ʼʹ′´`＇"
_HYPHENS = "‐‑‒–—−－"
_UNDECOMPOSED = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
_UNIFIED = str.maketrans({**dict.fromkeys(_APOSTROPHES, "'"), **dict.fromkeys(_HYPHENS, "-")})
_ACCENT = re.compile("[\u0300-\u036f]+")  # not every combining mark: some scripts spell with theirs
SEPARATOR = r"[\s._·•・‧]"
_SEPARATORS = re.compile(rf"{SEPARATOR}+")


def normal(name: str) -> str:
    """Return the form under which names are compared: NFKC, without case, accents, dots and underscores, one kind of
    apostrophe and hyphen, single spaces. Applying it twice changes nothing. Empty where nothing of a name is left."""
    return _SEPARATORS.sub(" ", folded(name)).strip()


def folded(text: str) -> str:
    """Return text in the letters of a normal form, its separators still standing."""
    text = unicodedata.normalize("NFKC", text.translate(_UNIFIED)).translate(_UNIFIED).casefold()
    text = "".join(_UNDECOMPOSED.get(letter, letter) for letter in text if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text)))
