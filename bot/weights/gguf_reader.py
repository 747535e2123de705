"""Read the header of a GGUF file without its tensors, however large the file.

The format is llama.cpp's, version 2 and 3: magic, version, number of tensors, number of key-value
pairs, the pairs, then each tensor's name, shape, type and offset, then the data at the next
multiple of `general.alignment`.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

from gguf.constants import (
    GGML_QUANT_SIZES,
    MODEL_ARCH_NAMES,
    MODEL_TENSOR,
    MODEL_TENSORS,
    GGMLQuantizationType,
)

from bot.errors import ModelFileError

if TYPE_CHECKING:
    from pathlib import Path

Value: TypeAlias = int | float | bool | str

_SCALARS: Final = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_STRING: Final = 8
_ARRAY: Final = 9
_VERSIONS: Final = (2, 3)
_FORMATS: Final = (
    (rb"\s*<", "it is a web page, such as an error or a login page"),
    (
        rb"version https://git-lfs",
        "it is a pointer to the real file. Download it with git lfs or from the hub",
    ),
    (rb"\Z", "it is empty"),
    (rb"(?s).{8}\{", "it is a safetensors file. Choose a GGUF file of the model"),
    (rb"PK|\x80[\x02-\x05]", "it is a PyTorch checkpoint or an archive. Choose a GGUF file"),
    (rb"lmgg|tjgg|fmgg|GGML", "it has an old format of llama.cpp. Download it as GGUF"),
)
"""The beginnings of files that people take for a model, and what to say about them."""

_OTHER_FORMAT: Final = "it starts with other bytes"
_MOST_LAYERS: Final = 1024
_SPLIT: Final = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")
_LARGEST_STRING: Final = 64 * 2**20
_LARGEST_COUNT: Final = 2**31
_TENSORS: Final = {MODEL_ARCH_NAMES[one]: tensors for one, tensors in MODEL_TENSORS.items()}
_OUTPUTS: Final = frozenset({"output.weight", "output_norm.weight", "token_embd_norm.weight"})
_KINDS: Final = {
    "adapter": "a LoRA adapter",
    "mmproj": "a projector for pictures or sound (mmproj)",
    "imatrix": "an importance matrix",
    "vocab": "a vocabulary without weights",
}


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor in the header. `size` is in bytes, or None if the type is unknown."""

    name: str
    offset: int
    size: int | None

    @property
    def layer(self) -> int | None:
        """Index of its layer, or None for embeddings and output."""
        found = re.match(r"blk\.(\d+)\.", self.name)
        return int(found[1]) if found else None


@dataclass(frozen=True)
class GgufFile:
    """The header of one GGUF file."""

    path: Path
    bytes_there: int
    data_start: int
    values: dict[str, Value]
    lengths: dict[str, int]  # of arrays, whose content is skipped
    tensors: tuple[Tensor, ...]

    @property
    def architecture(self) -> str:
        """The architecture, such as `qwen3`, or an empty text."""
        return str(self.values.get("general.architecture", ""))

    @property
    def name(self) -> str:
        """The model's name in the header, or else the file's name."""
        return str(self.values.get("general.name", "")).strip() or self.path.stem

    @property
    def layers(self) -> int:
        """Number of repeating layers."""
        return self._number("block_count")

    @property
    def context(self) -> int:
        """Context the model was trained with, in tokens."""
        return self._number("context_length")

    @property
    def kv_heads(self) -> int:
        """Number of key and value heads."""
        return self._number("attention.head_count_kv") or self.heads

    @property
    def heads(self) -> int:
        """Number of attention heads."""
        return self._number("attention.head_count")

    @property
    def embedding(self) -> int:
        """Size of a token's embedding."""
        return self._number("embedding_length")

    @property
    def head_size(self) -> tuple[int, int]:
        """Sizes of one head's key and value."""
        usual = self.embedding // max(1, self.heads)
        return (
            self._number("attention.key_length") or usual,
            self._number("attention.value_length") or usual,
        )

    @property
    def vocabulary(self) -> int:
        """Number of tokens in the vocabulary."""
        return self.lengths.get("tokenizer.ggml.tokens", 0) or self._number("vocab_size")

    @property
    def has_chat_template(self) -> bool:
        """Whether the file has a chat template."""
        return "tokenizer.chat_template" in self.values

    @property
    def is_recurrent(self) -> bool:
        """Whether some of its layers keep a running state instead of a cache of every token."""
        state = (".ssm.", ".wkv.", ".shortconv.")
        return any(
            key.startswith(f"{self.architecture}{part}") for key in self.values for part in state
        )

    @cached_property
    def bytes_needed(self) -> int:
        """Minimum size of the complete file in bytes, according to its header."""
        return max(
            (self.data_start + t.offset + (t.size or 0) for t in self.tensors),
            default=self.data_start,
        )

    @property
    def complete(self) -> bool:
        """Whether the file is complete, not truncated."""
        return self.bytes_there >= self.bytes_needed

    def _number(self, key: str) -> int:
        value = self.values.get(f"{self.architecture}.{key}", 0)
        return int(value) if isinstance(value, int | float) else 0


def read_header(path: Path) -> GgufFile:
    """Read the header of `path`. Raise ModelFileError if the file is missing or not GGUF."""
    try:
        with path.open("rb") as file:
            return _Header(path, file).read()
    except FileNotFoundError as error:
        raise ModelFileError(
            f"The model file {path} does not exist. Check the path, or use a name of the catalogue."
        ) from error
    except OSError as error:
        raise ModelFileError(
            f"The model file {path} can't be read ({error.strerror or error})."
        ) from error


def list_parts(path: Path) -> tuple[Path, ...]:
    """Return all files of a split model (`…-00001-of-00003.gguf`), or the one file."""
    found = _SPLIT.search(path.name)
    if not found:
        return (path,)
    stem = path.name[: found.start()]
    total = int(found[2])
    return tuple(
        path.with_name(f"{stem}-{number:05}-of-{total:05}.gguf") for number in range(1, total + 1)
    )


def check_model(path: Path) -> tuple[GgufFile, ...]:
    """Return the headers of all parts of the model at `path`.

    Raise ModelFileError if a part is missing, truncated or not GGUF, or if the model can't write
    text.
    """
    headers = tuple(read_header(part) for part in list_parts(path))
    for header in headers:
        if not header.complete:
            raise ModelFileError(
                f"The model file {header.path} is truncated: it has {header.bytes_there:,} of "
                f"{header.bytes_needed:,} bytes. Download it again."
            )
    if fault := _find_fault(headers):
        raise ModelFileError(f"The model file {path} {fault}. Choose a model that writes text.")
    return headers


def find_fault_in_front(path: Path) -> str | None:
    """Return why a file can't be a model that writes text, or None. `path` has its first bytes.

    The type and the architecture come first in a header.
    """
    values: dict[str, Value] = {}
    try:
        with path.open("rb") as file:
            _Header(path, file).read_front(values)
    except ModelFileError:
        if not values:
            return "is not a GGUF file"
    return _find_fault_in_values(values)


def _find_fault(headers: tuple[GgufFile, ...]) -> str | None:
    """Return what the model lacks to write text, or None."""
    first = headers[0]
    if fault := _find_fault_in_values(first.values):
        return fault
    names = {tensor.name for header in headers for tensor in header.tensors}
    if not names:
        return "has a vocabulary but no weights"
    if not first.vocabulary:
        return "has no tokenizer"
    if not any(name.startswith("blk.") for name in names):
        return "has no layers of a text model"
    if not 0 < first.layers <= _MOST_LAYERS:
        return f"has a header with {first.layers:,} layers"
    if "token_embd.weight" not in names:
        return "has no token embeddings"
    if not names & _OUTPUTS and MODEL_TENSOR.OUTPUT_NORM in _TENSORS[first.architecture]:
        return f"is an encoder ({first.architecture}) without an output"
    return None


def _find_fault_in_values(values: dict[str, Value]) -> str | None:
    kind = str(values.get("general.type", "model"))
    if kind != "model":
        return f"is {_KINDS.get(kind, f'of the kind {kind!r}')}, not a model"
    architecture = str(values.get("general.architecture", ""))
    if architecture not in _TENSORS:
        return (
            f"has the unknown architecture {architecture!r}"
            if architecture
            else ("names no architecture")
        )
    if MODEL_TENSOR.TOKEN_EMBD not in _TENSORS[architecture]:
        return f"is a part of a model ({architecture}) that reads no text"
    is_causal = values.get(f"{architecture}.attention.causal", True)
    if values.get(f"{architecture}.pooling_type", 0) or not is_causal:
        return f"is an embedding model ({architecture})"
    return None


class _Header:
    """Reads one header from the start."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._size = path.stat().st_size

    def read(self) -> GgufFile:
        self._check_magic()
        version, tensor_count, value_count = self._unpack("<IQQ")
        if int.from_bytes(version.to_bytes(4, "little")) in _VERSIONS:
            raise ModelFileError(
                f"The model file {self._path} is for big-endian machines. Download the usual file."
            )
        if version not in _VERSIONS:
            raise ModelFileError(
                f"The model file {self._path} has GGUF version {version}, which is not supported."
            )
        if max(tensor_count, value_count) > self._size:
            raise self._explain_broken_header()
        values: dict[str, Value] = {}
        lengths: dict[str, int] = {}
        for _ in range(value_count):
            self._pair(values, lengths)
        tensors = tuple(self._tensor() for _ in range(tensor_count))
        alignment = int(values.get("general.alignment", 32)) or 32
        start = -(-self._file.tell() // alignment) * alignment
        return GgufFile(self._path, self._size, start, values, lengths, tensors)

    def read_front(self, values: dict[str, Value]) -> None:
        """Fill `values` until the file ends."""
        self._check_magic()
        _, _, value_count = self._unpack("<IQQ")
        for _ in range(value_count):
            self._pair(values, {})

    def _check_magic(self) -> None:
        magic = self._file.read(4)
        if magic == b"GGUF":
            return
        seen = magic + self._file.read(60)
        hint = next((hint for begin, hint in _FORMATS if re.match(begin, seen)), _OTHER_FORMAT)
        raise ModelFileError(f"The file {self._path} is not a GGUF model: {hint}.")

    def _pair(self, values: dict[str, Value], lengths: dict[str, int]) -> None:
        key = self._string()
        (kind,) = self._unpack("<I")
        if kind == _ARRAY:
            lengths[key] = self._skip_array()
        elif kind == _STRING:
            values[key] = self._string()
        else:
            values[key] = self._scalar(kind)

    def _scalar(self, kind: int) -> Value:
        if kind not in _SCALARS:
            raise self._explain_broken_header()
        value: Value = self._unpack(_SCALARS[kind])[0]
        return value

    def _skip_array(self) -> int:
        kind, count = self._unpack("<IQ")
        if count > _LARGEST_COUNT:
            raise self._explain_broken_header()
        if kind in _SCALARS:
            self._file.seek(count * struct.calcsize(_SCALARS[kind]), 1)
        elif kind == _STRING:
            for _ in range(count):
                self._take(self._length())
        else:
            raise self._explain_broken_header()
        return int(count)

    def _tensor(self) -> Tensor:
        name = self._string()
        (dimensions,) = self._unpack("<I")
        if dimensions > 8:
            raise self._explain_broken_header()
        shape = self._unpack(f"<{dimensions}Q")
        kind, offset = self._unpack("<IQ")
        return Tensor(name, offset, tensor_bytes(shape, kind))

    def _string(self) -> str:
        return self._take(self._length()).decode("utf-8", "replace")

    def _length(self) -> int:
        (length,) = self._unpack("<Q")
        if length > _LARGEST_STRING:
            raise self._explain_broken_header()
        return int(length)

    def _unpack(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(layout, self._take(struct.calcsize(layout)))

    def _take(self, count: int) -> bytes:
        taken = self._file.read(count)
        if len(taken) < count:
            raise ModelFileError(
                f"The model file {self._path} is truncated within its header. Download it again."
            )
        return taken

    def _explain_broken_header(self) -> ModelFileError:
        return ModelFileError(
            f"The header of the model file {self._path} is broken. Download it again."
        )


def tensor_bytes(shape: tuple[int, ...], kind: int) -> int | None:
    """Return the size of a tensor in bytes, or None if the type is unknown.

    The first extent is the row length.
    """
    try:
        block, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
    except (ValueError, KeyError):
        return None
    count = 1
    for extent in shape:
        count *= extent
    return count // block * size
