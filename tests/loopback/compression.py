"""How gateway packets are packed: as text, or as one long compressed stream, whichever the bot asked for."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from importlib import import_module

Packer = Callable[[str], str | bytes]


def packer(kind: str) -> Packer:
    """A packer for one connection; `kind` is the `compress` in the address it came to."""
    if kind == "zlib-stream":
        stream = zlib.compressobj()
        return lambda text: stream.compress(text.encode()) + stream.flush(zlib.Z_SYNC_FLUSH)
    return _zstd() if kind == "zstd-stream" else lambda text: text


def _zstd() -> Packer:
    """A bot asks for this only where one of the two libraries is there; the second came with Python 3.14."""
    try:
        zstandard = import_module("zstandard")
    except ModuleNotFoundError:
        newer = import_module("compression.zstd").ZstdCompressor()
        return lambda text: bytes(newer.compress(text.encode(), newer.FLUSH_BLOCK))
    stream = zstandard.ZstdCompressor().compressobj()
    return lambda text: bytes(
        stream.compress(text.encode()) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    )
