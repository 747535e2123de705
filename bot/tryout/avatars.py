"""Draw avatars with a person's initial."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

_SIZE = 96  # pixels


def draw_initial(name: str, colour: str) -> bytes:
    """Return a PNG with the first letter of `name` on a background of `colour`."""
    picture = Image.new("RGB", (_SIZE, _SIZE), colour)
    font = ImageFont.load_default(size=_SIZE * 0.55)
    ImageDraw.Draw(picture).text(
        (_SIZE / 2, _SIZE / 2), name[0], fill="white", font=font, anchor="mm"
    )
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()
