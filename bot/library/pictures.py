"""Faces: a picture file made into a small square PNG, or what is wrong with it."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from PIL import Image, ImageOps, UnidentifiedImageError

from bot.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 8 * 1024 * 1024
MAX_PIXELS = 40_000_000
SIDE = 512
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, UnidentifiedImageError)
_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)


def square_png(path: Path) -> bytes:
    """Return the picture at `path` as a PNG, cut to a square of at most 512 pixels a side.

    Of a moving picture the first frame counts. Raises ScenarioError where it is no picture, or too large.
    """
    data = _bytes(path)
    try:
        with Image.open(BytesIO(data), formats=_FORMATS) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise ScenarioError(
                    f"{path}: the picture has too many pixels: scale it down to {SIDE} a side."
                )
            return _png(picture)
    except _BOMB:
        raise ScenarioError(
            f"{path}: the picture has too many pixels: scale it down to {SIDE} a side."
        ) from None
    except _BROKEN as error:
        raise ScenarioError(
            f"{path}: this is no whole PNG, JPEG, WebP or GIF: save the picture anew."
        ) from error


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScenarioError(
            f"{path}: the picture can't be read ({error.strerror}): check the name."
        ) from error
    if len(data) > MAX_BYTES:
        raise ScenarioError(
            f"{path}: the picture is larger than {MAX_BYTES // 2**20} MiB: scale it down."
        )
    return data


def _png(picture: Image.Image) -> bytes:
    upright = ImageOps.exif_transpose(picture).convert("RGBA")
    side = min(SIDE, *upright.size)
    square = ImageOps.fit(
        upright, (side, side), Image.Resampling.LANCZOS, centering=(0.5, 0.3)
    )  # heads are above
    out = BytesIO()
    square.save(out, "PNG")
    return out.getvalue()
