"""A checkpoint as the hub has it: `config.json`, a tokenizer, and tensors in one safetensors file or several shards."""

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
    """Return what is in a JSON file. Raises WeightsError."""
    try:
        if path.stat().st_size > _LARGEST:
            raise WeightsError(f"{path} is too large for what it should be: fetch it again.")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WeightsError(f"{path} can't be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise WeightsError(f"{path} is no JSON: fetch it again.") from error


def shards_in(index: Any, whose: str) -> tuple[str, ...]:
    """Return the names of the shards that an index lists. Raises WeightsError where it is no index."""
    listed = index.get("weight_map") if isinstance(index, dict) else None
    names = set(listed.values()) if isinstance(listed, dict) else set()
    if not names or not all(isinstance(name, str) and name == Path(name).name for name in names):
        raise WeightsError(f"{INDEX} of {whose} lists no shards: it can't be converted.")
    return tuple(sorted(names))


def shards_among(files: Iterable[str], whose: str) -> tuple[str, ...]:
    """Return the one shard of a checkpoint that has no index. Raises WeightsError where there is none."""
    if SINGLE in files:
        return (SINGLE,)
    raise WeightsError(
        f"{whose} has no safetensors ({SINGLE} or {INDEX}), so it can't be converted."
    )


def read_shard(path: Path) -> dict[str, LocalTensor]:
    """Return what a safetensors file holds, by name. Raises WeightsError where it is none, or was cut off."""
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
            f"{path} is no safetensors file, or is cut off: fetch it again."
        ) from error
    needed = max(
        (one.data_range.offset + one.data_range.size for one in tensors.values()), default=0
    )
    if needed > size:
        raise WeightsError(
            f"{path} is cut off: {size:,} of {needed:,} bytes are there; fetch it again."
        )
    return tensors
