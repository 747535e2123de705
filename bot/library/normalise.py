"""The normal form in which names are compared."""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = "’‘ʼʹ′´`＇"
_HYPHENS = "‐‑‒–—−－"
_UNDECOMPOSED = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
_UNIFIED = str.maketrans({**dict.fromkeys(_APOSTROPHES, "'"), **dict.fromkeys(_HYPHENS, "-")})
_ACCENT = re.compile(
    "[\u0300-\u036f]+"
)  # excludes other combining marks, which some scripts spell with
SEPARATOR = r"[\s._·•・‧]"
_SEPARATORS = re.compile(rf"{SEPARATOR}+")
_UNSEEN_KINDS = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Mn", "Me"))
_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters by category, but invisible


def normalise(name: str) -> str:
    """Return the normal form of a name.

    That is NFKC without case, accents, dots and underscores, with one kind of apostrophe and hyphen
    and single spaces. Idempotent. Return an empty text if the name has no visible letter.
    """
    return _SEPARATORS.sub(" ", fold(name)).strip()


def fold(text: str) -> str:
    """Return text in the letters of the normal form, with its separators."""
    text = unicodedata.normalize("NFKC", text.translate(_UNIFIED)).translate(_UNIFIED).casefold()
    text = "".join(
        _UNDECOMPOSED.get(letter, letter) for letter in text if unicodedata.category(letter) != "Cf"
    )
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text)))


def is_blank(text: str) -> bool:
    """Return whether the text has no visible character."""
    return all(
        unicodedata.category(letter) in _UNSEEN_KINDS or letter in _UNSEEN for letter in text
    )
