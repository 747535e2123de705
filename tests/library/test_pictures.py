"""Common pictures become small square PNGs. Other files are rejected."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from bot.errors import ScenarioError
from bot.library import pictures

if TYPE_CHECKING:
    from pathlib import Path


def opened(path: Path) -> Image.Image:
    return Image.open(BytesIO(pictures.square_png(path)))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
@pytest.mark.parametrize(
    ("size", "side"), [((900, 700), 512), ((300, 800), 300), ((40, 40), 40), ((1, 9), 1)]
)
def test_a_picture_becomes_a_square(
    tmp_path: Path, kind: str, size: tuple[int, int], side: int
) -> None:
    path = tmp_path / "face"
    Image.new("RGB", size, "teal").save(path, kind)
    picture = opened(path)
    assert (picture.format, picture.size) == ("PNG", (side, side))


def test_the_first_frame_of_an_animation_is_used(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (20, 20), color) for color in ("red", "blue")]
    frames[0].save(tmp_path / "face.gif", save_all=True, append_images=frames[1:])
    assert opened(tmp_path / "face.gif").convert("RGB").getpixel((5, 5)) == (255, 0, 0)


def test_a_picture_is_rotated_as_its_exif_data_says(tmp_path: Path) -> None:
    picture = Image.new("RGB", (40, 20), "red")
    picture.paste("blue", (0, 0, 20, 20))
    exif = Image.Exif()
    exif[0x0112] = (
        6  # the EXIF data asks for a quarter turn to the right, so the left edge becomes the top
    )
    picture.save(tmp_path / "face.png", exif=exif)
    assert opened(tmp_path / "face.png").convert("RGB").getpixel((10, 2)) == (0, 0, 255)


def test_transparency_is_kept(tmp_path: Path) -> None:
    Image.new("RGBA", (30, 30), (0, 0, 0, 0)).save(tmp_path / "face.png")
    assert opened(tmp_path / "face.png").getpixel((3, 3)) == (0, 0, 0, 0)


def png_of(width: int, height: int) -> bytes:
    """Return a PNG whose header claims this size, with little data behind it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [7_000, 12_000, 60_000])
def test_a_decompression_bomb_is_rejected(tmp_path: Path, side: int) -> None:
    (tmp_path / "face.png").write_bytes(png_of(side, side))
    with pytest.raises(ScenarioError, match=r"too many pixels\. Scale it down"):
        pictures.square_png(tmp_path / "face.png")


def whole_png() -> bytes:
    out = BytesIO()
    Image.effect_noise((60, 60), 50).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>404</html>",
        b"GIF89a",
        whole_png()[:600],
        png_of(0, 5),
        b"%!PS-Adobe-3.0 EPSF-3.0\n",
        b"BM" + b"\0" * 60,
    ],
)
def test_incomplete_and_other_files_are_rejected(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "face.png").write_bytes(data)
    with pytest.raises(
        ScenarioError, match=r"face\.png: this is not a complete PNG, JPEG, WebP or GIF"
    ):
        pictures.square_png(tmp_path / "face.png")


def test_a_large_or_missing_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "face.png").write_bytes(whole_png() + b"\0" * pictures.MAX_BYTES)
    with pytest.raises(ScenarioError, match="larger than 8 MiB"):
        pictures.square_png(tmp_path / "face.png")
    with pytest.raises(ScenarioError, match=r"can't be read \(No such file"):
        pictures.square_png(tmp_path / "none.png")
    with pytest.raises(ScenarioError, match="can't be read"):
        pictures.square_png(tmp_path)
