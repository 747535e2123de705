"""Monograms: the pictures of characters that have none, with a letter on a colour.

Letters that the outline font lacks come from a bitmap font, and signs that neither has become a
pattern.
"""

from __future__ import annotations

import hashlib
import lzma
import struct
from dataclasses import dataclass
from functools import cache, lru_cache
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PIL import Image, ImageDraw, ImageFont

from bot.library.name_matching import strip_titles
from bot.library.normalise import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

SIDE: Final = 128
"""Pixels. Discord shows 40 of them, or 80 on a fine screen."""

COLOURS: Final = (
    "#b3372f",
    "#2f6fb0",
    "#3a7d34",
    "#8a4fb5",
    "#a35a00",
    "#0f7b83",
    "#c02f78",
    "#6b6f1d",
    "#5a62c4",
    "#8c5a3c",
    "#5f6b76",
    "#99458f",
)
"""Background colours with enough contrast to white text, and to light and dark pages."""

_FONTS: Final = Path(__file__).parent / "fonts"
_LETTER_SIZE = 84  # of the outline font
_LARGEST_PIXEL = 9  # pixels for each one of the bitmap font
_BITMAP_SIZE = 96  # the largest width and height of a letter of the bitmap font, scaled
_BOLD = 3  # pixels by which its thin strokes are widened
_GRID = 16  # the width and height of a letter of the bitmap font
_PATTERN = 5  # the width and height of a pattern
_MISSING = "\U0010ffff"  # no font has it


@dataclass(frozen=True, slots=True)
class Monogram:
    """The letter and the colour of one character."""

    letter: str
    colour: str


def assign_monograms(names: Sequence[str]) -> dict[str, Monogram]:
    """Return a monogram for each name of a cast.

    No two are equal, and colours repeat only after all were used. A name that joins at the end
    changes none before it.
    """
    assigned: dict[str, Monogram] = {}
    uses = dict.fromkeys(COLOURS, 0)
    for name in dict.fromkeys(names):
        letter = find_letter(name)
        taken = {one.colour for one in assigned.values() if one.letter == letter}
        start = hashlib.sha256(name.encode("utf-8", "replace")).digest()[0]
        ring = [COLOURS[(start + step) % len(COLOURS)] for step in range(len(COLOURS))]
        free = [colour for colour in ring if colour not in taken] or ring
        colour = min(free, key=lambda one: uses[one])
        uses[colour] += 1
        assigned[name] = Monogram(letter, colour)
    return assigned


def find_letter(name: str) -> str:
    """Return the monogram of a name: its first letter after a title, as a capital."""
    for text in (strip_titles(name), name):
        for letter in text:
            if letter.isalnum():
                return _capitalise(letter)
    return next((sign for sign in name if not sign.isspace()), "?")


def draw_monogram(monogram: Monogram) -> bytes:
    """Return a square PNG. The same monogram always gives the same bytes."""
    picture = Image.new("RGB", (SIDE, SIDE), monogram.colour)
    if not (_draw_outline(picture, monogram.letter) or _draw_pixels(picture, monogram.letter)):
        _draw_pattern(picture, monogram.letter)
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _capitalise(letter: str) -> str:
    capital = letter.upper()[:1]
    plain = fold(letter).upper()[:1]
    return next((one for one in (capital, letter, plain) if one and _has_glyph(one)), capital)


@cache
def _load_font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(_FONTS / "letters.ttf", _LETTER_SIZE)


@lru_cache(maxsize=1024)
def _has_glyph(letter: str) -> bool:
    font = _load_font()
    return bytes(font.getmask(letter)) != bytes(font.getmask(_MISSING))


def _draw_outline(picture: Image.Image, letter: str) -> bool:
    """Draw a letter of the outline font. Return whether the font has it."""
    if not _has_glyph(letter):
        return False
    font = _load_font()
    left, top, right, bottom = font.getbbox(letter)
    place = ((SIDE - left - right) / 2, (SIDE - top - bottom) / 2)
    ImageDraw.Draw(picture).text(place, letter, fill="white", font=font)
    return True


@cache
def _load_bitmaps() -> tuple[dict[int, int], bytes]:
    """Return the offset of each letter of the bitmap font, and its bitmaps."""
    data = lzma.decompress((_FONTS / "pixel_letters.xz").read_bytes())
    (count,) = struct.unpack_from("<I", data)
    letters = struct.unpack_from(f"<{count}H", data, 4)
    bitmaps = data[4 + 2 * count :]
    return {letter: index * 2 * _GRID for index, letter in enumerate(letters)}, bitmaps


def _draw_pixels(picture: Image.Image, letter: str) -> bool:
    """Draw a letter of the bitmap font. Return whether the font has it."""
    offsets, bitmaps = _load_bitmaps()
    offset = offsets.get(ord(letter[0]))
    if offset is None:
        return False
    rows = bitmaps[offset : offset + 2 * _GRID]
    glyph = Image.frombytes("1", (_GRID, _GRID), rows)
    if (box := glyph.getbbox()) is None:
        return False
    glyph = glyph.crop(box)
    scale = min(_LARGEST_PIXEL, _BITMAP_SIZE // max(glyph.size))
    scaled = glyph.resize((glyph.width * scale, glyph.height * scale), Image.Resampling.NEAREST)
    left, top = ((SIDE - length - _BOLD) // 2 for length in scaled.size)
    for right, down in product((0, _BOLD), repeat=2):
        picture.paste("white", (left + right, top + down), scaled)
    return True


def _draw_pattern(picture: Image.Image, sign: str) -> None:
    """Draw a mirrored pattern that differs from sign to sign."""
    digest = hashlib.sha256(sign.encode("utf-8", "replace")).digest()
    bits = int.from_bytes(digest[:4], "little") | 1  # never empty
    draw = ImageDraw.Draw(picture)
    cell = SIDE // (_PATTERN + 2)
    edge = (SIDE - cell * _PATTERN) // 2
    for column, row in product(range(_PATTERN), range(_PATTERN)):
        at = min(column, _PATTERN - 1 - column) * _PATTERN + row
        if bits >> at & 1:
            left, top = edge + column * cell, edge + row * cell
            draw.rectangle((left, top, left + cell - 1, top + cell - 1), fill="white")
