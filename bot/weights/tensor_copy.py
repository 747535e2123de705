"""Copy one tensor's numbers between files, unchanged or converted to another type."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final

import numpy as np

from bot.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

    import numpy.typing as npt
    from gguf.utility import LocalTensor

    from bot.weights.gguf_writer import FloatType, TensorPlacement

_CHUNK: Final = 2**24  # bytes in memory at once, a multiple of every number's size
_AT_ONCE: Final = 2**27  # bytes that the system copies between two reports
_NOT_BETWEEN_THESE: Final = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)


def copy_tensor(
    source: FileIO, target: FileIO, tensor: LocalTensor, place: TensorPlacement
) -> Iterator[int]:
    """Copy a tensor to its place, and yield the number of bytes after each piece.

    Both files must be unbuffered. Raise OSError. Raise WeightsError if the source ends too early.
    """
    done, size = 0, tensor.data_range.size
    by_system = tensor.dtype == place.kind and hasattr(os, "copy_file_range")
    while done < size:
        at = tensor.data_range.offset + done
        if by_system:
            taken = _by_system(source, target, min(_AT_ONCE, size - done), at, place.start + done)
            by_system = taken is not None
        else:
            taken = _by_hand(
                source, target, min(_CHUNK, size - done), at, tensor.dtype, place, done
            )
        if taken == 0:
            raise WeightsError(
                f"{tensor.data_range.filename.name} is truncated. Download it again."
            )
        done += taken or 0
        yield taken or 0


def _by_system(source: FileIO, target: FileIO, size: int, at: int, to: int) -> int | None:
    """Let the system copy the bytes without passing them through this process.

    Return None if these files don't allow it.
    """
    try:
        return os.copy_file_range(source.fileno(), target.fileno(), size, at, to)
    except OSError as error:
        if error.errno in _NOT_BETWEEN_THESE:
            return None
        raise


def _by_hand(
    source: FileIO,
    target: FileIO,
    size: int,
    at: int,
    given: str,
    place: TensorPlacement,
    done: int,
) -> int:
    source.seek(at)
    chunk = _read_fully(source, size)
    if len(chunk) < size:
        return 0
    numbers = chunk if given == place.kind else _convert(chunk, given, place.kind)
    target.seek(place.start + done * len(numbers) // max(1, len(chunk)))
    left = memoryview(numbers)
    while left:
        left = left[target.write(left) :]
    return len(chunk)


def _read_fully(source: FileIO, size: int) -> bytes:
    """Read `size` bytes, or fewer at the end of the file. A single read may return less."""
    pieces = []
    while size and (piece := source.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _convert(chunk: bytes, given: str, wanted: FloatType) -> bytes:
    """Convert numbers to another type, rounded to nearest, ties to even."""
    numbers = _as_f32(chunk, given)
    if wanted == "F32":
        return numbers.tobytes()
    if wanted == "F16":
        with np.errstate(over="ignore"):
            return numbers.astype("<f2").tobytes()
    bits = numbers.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype("<u2").tobytes()


def _as_f32(chunk: bytes, given: str) -> npt.NDArray[np.float32]:
    if given == "BF16":
        return (np.frombuffer(chunk, "<u2").astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(chunk, "<f2" if given == "F16" else "<f4").astype(np.float32)
