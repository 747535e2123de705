"""Turn a picture file into a small square PNG."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from PIL import Image, ImageOps, UnidentifiedImageError

from bot.errors import CharacterError, ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

    from bot.errors import DocumentError

MAX_BYTES = 8 * 1024 * 1024
MAX_PIXELS = 40_000_000
SIDE = 512
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, UnidentifiedImageError)
_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)


def square_png(path: Path) -> bytes:
    """Return the picture at `path` as a PNG, cropped to a square of at most 512 pixels a side.

    Uses the first frame of an animation. Raise ScenarioError if the file is too large or not a
    picture.
    """
    return _convert(_read_bytes(path), str(path), ScenarioError)


def square_upload(data: bytes, name: str) -> bytes:
    """Return an uploaded picture as `square_png` does. `name` is its file name.

    Raise CharacterError if the picture is too large or not a picture.
    """
    if len(data) > MAX_BYTES:
        raise CharacterError(
            f"{name}: the picture is larger than {MAX_BYTES // 2**20} MiB. Scale it down."
        )
    return _convert(data, name, CharacterError)


def _convert(data: bytes, source: str, error_type: type[DocumentError]) -> bytes:
    try:
        with Image.open(BytesIO(data), formats=_FORMATS) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise error_type(
                    f"{source}: the picture has too many pixels. Scale it down to {SIDE} pixels "
                    "a side."
                )
            return _encode_png(picture)
    except _BOMB:
        raise error_type(
            f"{source}: the picture has too many pixels. Scale it down to {SIDE} pixels a side."
        ) from None
    except _BROKEN as error:
        raise error_type(
            f"{source}: this is not a complete PNG, JPEG, WebP or GIF. Save the picture again."
        ) from error


def _read_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScenarioError(
            f"{path}: the picture can't be read ({error.strerror}). Check the file name."
        ) from error
    if len(data) > MAX_BYTES:
        raise ScenarioError(
            f"{path}: the picture is larger than {MAX_BYTES // 2**20} MiB. Scale it down."
        )
    return data


def _encode_png(picture: Image.Image) -> bytes:
    upright = ImageOps.exif_transpose(picture).convert("RGBA")
    side = min(SIDE, *upright.size)
    square = ImageOps.fit(
        upright, (side, side), Image.Resampling.LANCZOS, centering=(0.5, 0.3)
    )  # heads are usually above the middle
    out = BytesIO()
    square.save(out, "PNG")
    return out.getvalue()
