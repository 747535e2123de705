"""The one spelling under which names are compared, however people write them, and what of a text can be seen."""

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
_UNSEEN_KINDS = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Mn", "Me"))
_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters by category, blank by sight


def normal(name: str) -> str:
    """Return the form under which names are compared: NFKC, without case, accents, dots and underscores, one kind of
    apostrophe and hyphen, single spaces. Applying it twice changes nothing. Empty where nothing of a name is left."""
    return _SEPARATORS.sub(" ", folded(name)).strip()


def folded(text: str) -> str:
    """Return text in the letters of a normal form, its separators still standing."""
    text = unicodedata.normalize("NFKC", text.translate(_UNIFIED)).translate(_UNIFIED).casefold()
    text = "".join(
        _UNDECOMPOSED.get(letter, letter) for letter in text if unicodedata.category(letter) != "Cf"
    )
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text)))


def is_blank(text: str) -> bool:
    """Whether nothing of this text can be seen."""
    return all(
        unicodedata.category(letter) in _UNSEEN_KINDS or letter in _UNSEEN for letter in text
    )
