"""An array of candidate tokens with their logits, in the layout of llama.cpp's samplers."""

from __future__ import annotations

import ctypes
from typing import Any, Final, TypeAlias

import llama_cpp as lib
import numpy as np

Logits: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]
Tokens: TypeAlias = np.ndarray[tuple[int], np.dtype[np.integer[Any]]]
Mask: TypeAlias = np.ndarray[tuple[int], np.dtype[np.bool_]]

_TOKEN_DATA: Final = np.dtype(  # llama_token_data
    [("id", np.int32), ("logit", np.float32), ("p", np.float32)]
)
_INITIAL_CAPACITY: Final = 2048  # tokens


class Candidates:
    """The tokens that may come next. One instance is refilled, since creating one is slow."""

    def __init__(self) -> None:
        self._allocate(_INITIAL_CAPACITY)

    def fill(self, ids: Tokens, logits: Logits) -> None:
        """Replace the candidates by `ids` with their `logits`."""
        size = len(ids)
        if size > len(self._ids):
            self._allocate(2 * size)
        self._ids[:size] = ids
        self._logits[:size] = logits
        array = self._array
        array.data, array.size, array.selected, array.sorted = self._start, size, -1, False
        self._size = size

    def apply(self, sampler: Any) -> None:
        """Apply a llama.cpp sampler or sampler chain, which changes the logits or selects."""
        lib.llama_sampler_apply(sampler, self._pointer)

    def apply_except(self, sampler: Any, exempt: Mask) -> None:
        """Apply a sampler that only changes logits, and keep the logits of `exempt` tokens.

        The order of the candidates must be that of `fill`.
        """
        kept = self._logits[: self._size][exempt]
        self.apply(sampler)
        self._logits[: self._size][exempt] = kept

    @property
    def ids(self) -> Tokens:
        """The candidates, in the order of `fill` before a sampler has changed it."""
        return self._ids[: self._size]

    def drop_impossible(self) -> bool:
        """Remove the candidates that a grammar rejected. Return whether any are left."""
        possible = np.isfinite(self._logits[: self._size])
        self.fill(self._ids[: self._size][possible], self._logits[: self._size][possible])
        return self._size > 0

    @property
    def max_logit(self) -> float:
        """The highest logit. Valid only before a sampler has removed candidates."""
        return float(self._logits[: self._size].max())

    @property
    def selected(self) -> int:
        """The token that a sampler selected."""
        return int(self._array.data[self._array.selected].id)

    def _allocate(self, capacity: int) -> None:
        self._all = np.zeros(capacity, _TOKEN_DATA)
        self._ids, self._logits = self._all["id"], self._all["logit"]
        self._size = 0
        self._start: Any = ctypes.cast(self._all.ctypes.data, ctypes.POINTER(lib.llama_token_data))
        self._array: Any = lib.llama_token_data_array(self._start, 0, -1, False)
        self._pointer = ctypes.pointer(self._array)
