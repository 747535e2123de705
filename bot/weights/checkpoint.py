"""A checkpoint in the hub's format: `config.json`, a tokenizer, and tensors in one or several
safetensors files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gguf.utility import SafetensorsLocal

from bot.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gguf.utility import LocalTensor

INDEX: Final = "model.safetensors.index.json"
SINGLE: Final = "model.safetensors"
_LARGEST = 64 * 2**20  # bytes of a JSON file


def read_json(path: Path) -> Any:
    """Return the content of a JSON file. Raise WeightsError."""
    try:
        if path.stat().st_size > _LARGEST:
            raise WeightsError(
                f"{path} is too large for a JSON file of a checkpoint. Download it again."
            )
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WeightsError(f"{path} can't be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise WeightsError(f"{path} is not JSON. Download it again.") from error


def list_indexed_shards(index: Any, whose: str) -> tuple[str, ...]:
    """Return the names of the shards in an index. Raise WeightsError if it lists no shards."""
    listed = index.get("weight_map") if isinstance(index, dict) else None
    names = set(listed.values()) if isinstance(listed, dict) else set()
    if not names or not all(isinstance(name, str) and name == Path(name).name for name in names):
        raise WeightsError(
            f"{INDEX} of {whose} lists no shards, so it can't be converted. Download it again."
        )
    return tuple(sorted(names))


def find_single_shard(files: Iterable[str], whose: str) -> tuple[str, ...]:
    """Return the only shard of a checkpoint without an index.

    Raise WeightsError if it is missing.
    """
    if SINGLE in files:
        return (SINGLE,)
    raise WeightsError(
        f"{whose} has neither {SINGLE} nor {INDEX}, so it can't be converted. Choose a "
        "checkpoint with safetensors."
    )


def read_shard(path: Path) -> dict[str, LocalTensor]:
    """Return the tensors of a safetensors file by name.

    Raise WeightsError if it is invalid or truncated.
    """
    try:
        tensors = SafetensorsLocal(path).tensors
        size = path.stat().st_size
    except OSError as error:
        raise WeightsError(f"{path} can't be read ({error.strerror or error}).") from error
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        MemoryError,
        OverflowError,
    ) as error:
        raise WeightsError(
            f"{path} is not a safetensors file, or it is truncated. Download it again."
        ) from error
    needed = max(
        (one.data_range.offset + one.data_range.size for one in tensors.values()), default=0
    )
    if needed > size:
        raise WeightsError(
            f"{path} is truncated: it has {size:,} of {needed:,} bytes. Download it again."
        )
    return tensors
