"""Compression of gateway packets: plain text, or one stream per connection, as the bot asks."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from importlib import import_module

Packer = Callable[[str], str | bytes]


def packer(kind: str) -> Packer:
    """Return the packer for one connection. `kind` is the `compress` parameter of its address."""
    if kind == "zlib-stream":
        stream = zlib.compressobj()
        return lambda text: stream.compress(text.encode()) + stream.flush(zlib.Z_SYNC_FLUSH)
    return _zstd() if kind == "zstd-stream" else lambda text: text


def _zstd() -> Packer:
    """zstd. A bot asks for it if it has one of two libraries; Python 3.14 contains the second."""
    try:
        zstandard = import_module("zstandard")
    except ModuleNotFoundError:
        newer = import_module("compression.zstd").ZstdCompressor()
        return lambda text: bytes(newer.compress(text.encode(), newer.FLUSH_BLOCK))
    stream = zstandard.ZstdCompressor().compressobj()
    return lambda text: bytes(
        stream.compress(text.encode()) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    )
