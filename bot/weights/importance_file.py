"""Read and write importance matrices: llama.cpp's GGUF format, and the older `.dat` for reading.

GGUF: `general.type` is `imatrix`, and each tensor NAME of the model has two tensors `NAME.in_sum2`
and `NAME.counts` in F32. `.dat`: the number of entries, then for each one its name, number of
calls, number of values and the mean squares times that number, then optionally the number of chunks
and the name of the text. All integers there have 32 bits.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
from gguf import GGUFReader, GGUFWriter, Keys

from bot.errors import WeightsError
from bot.weights.importance_matrix import ColumnSums, ImportanceMatrix

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

_TYPE: Final = "imatrix"
_SUMS: Final = ".in_sum2"
_COUNTS: Final = ".counts"
_CHUNKS: Final = Keys.IMatrix.CHUNK_COUNT
_CHUNK_SIZE: Final = Keys.IMatrix.CHUNK_SIZE
_DATASETS: Final = Keys.IMatrix.DATASETS
_LARGEST_NAME: Final = 1024


def read_importance(path: Path) -> ImportanceMatrix:
    """Read an importance matrix. Raise WeightsError if the file is missing, broken or another."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
        return _read_gguf(path) if magic == b"GGUF" else _read_legacy(path)
    except OSError as error:
        raise WeightsError(
            f"The importance matrix {path} can't be read ({error.strerror or error}). Check the "
            "path."
        ) from error


def write_importance(path: Path, matrix: ImportanceMatrix) -> None:
    """Write `matrix` as GGUF. The file appears once it is complete. Raise WeightsError."""
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_gguf(part, matrix)
        part.replace(path)
    except OSError as error:
        raise WeightsError(
            f"{path} can't be stored ({error.strerror or error}). Choose another folder."
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _write_gguf(path: Path, matrix: ImportanceMatrix) -> None:
    writer = GGUFWriter(path, "")  # without an architecture
    try:
        writer.add_type(_TYPE)
        writer.add_array(_DATASETS, list(matrix.datasets) or [""])
        writer.add_uint32(_CHUNKS, matrix.chunks)
        writer.add_uint32(_CHUNK_SIZE, matrix.chunk_size)
        for name, one in sorted(matrix.tensors.items()):
            writer.add_tensor(f"{name}{_SUMS}", one.sums)
            writer.add_tensor(f"{name}{_COUNTS}", one.counts.reshape(-1, 1))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _read_gguf(path: Path) -> ImportanceMatrix:
    try:
        reader = GGUFReader(path)
    except (ValueError, IndexError, KeyError) as error:
        raise _broken(path) from error
    if _value(reader, Keys.General.TYPE) != _TYPE:
        raise WeightsError(
            f"{path} is a GGUF file without an importance matrix. Choose another file, or compute "
            "one with `aside models imatrix`."
        )
    found = {tensor.name: tensor for tensor in reader.tensors}
    if any(tensor.tensor_type.name != "F32" for tensor in found.values()):
        raise _broken(path)
    names = [name.removesuffix(_SUMS) for name in found if name.endswith(_SUMS)]
    if not names or any(f"{name}{_COUNTS}" not in found for name in names):
        raise _broken(path)
    return ImportanceMatrix(
        {
            name: _column_sums(path, found[f"{name}{_SUMS}"].data, found[f"{name}{_COUNTS}"].data)
            for name in names
        },
        int(_value(reader, _CHUNKS) or 0),
        int(_value(reader, _CHUNK_SIZE) or 0),
        tuple(text for text in _value(reader, _DATASETS) or () if text),
    )


def _value(reader: GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    return field.contents() if field else None


def _column_sums(
    path: Path, sums: npt.NDArray[np.float32], counts: npt.NDArray[np.float32]
) -> ColumnSums:
    if not counts.size or sums.size % counts.size or not np.isfinite(sums).all():
        raise _broken(path)
    rows = np.array(sums, np.float32).reshape(counts.size, -1)
    return ColumnSums(rows, np.array(counts, np.float32).reshape(-1))


def _read_legacy(path: Path) -> ImportanceMatrix:
    with path.open("rb") as file:
        reader = _Legacy(path, file)
        tensors = dict(reader.entry() for _ in range(reader.number(1)))
        chunks, dataset = reader.ending()
    return ImportanceMatrix(tensors, chunks, 0, (dataset,) if dataset else ())


class _Legacy:
    """Reads a `.dat` file from its start."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._size = path.stat().st_size

    def number(self, least: int = 0) -> int:
        (number,) = struct.unpack("<i", self._take(4))
        if not least <= number <= self._size:
            raise _broken(self._path)
        return int(number)

    def entry(self) -> tuple[str, ColumnSums]:
        length = self.number(1)
        if length > _LARGEST_NAME:
            raise _broken(self._path)
        name = self._take(length).decode("utf-8", "replace")
        calls = self.number()
        values = np.frombuffer(self._take(4 * self.number(1)), "<f4")
        return name, _column_sums(self._path, values, np.array([max(calls, 1)], np.float32))

    def ending(self) -> tuple[int, str]:
        """Return the number of chunks and the text's name, which older files lack."""
        rest = self._file.read()
        if len(rest) < 8:
            return 0, ""
        chunks, length = struct.unpack("<ii", rest[:8])
        return max(0, chunks), rest[8 : 8 + max(0, length)].decode("utf-8", "replace")

    def _take(self, count: int) -> bytes:
        taken = self._file.read(count)
        if len(taken) < count:
            raise _broken(self._path)
        return taken


def _broken(path: Path) -> WeightsError:
    return WeightsError(
        f"{path} is not a complete importance matrix. Download it again, or compute one with "
        "`aside models imatrix`."
    )
