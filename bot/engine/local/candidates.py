"""Tokens with their logits, as native samplers take them."""

from __future__ import annotations

import ctypes
from typing import Any, Final, TypeAlias

import llama_cpp as lib
import numpy as np

Logits: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]
Tokens: TypeAlias = np.ndarray[tuple[int], np.dtype[np.integer[Any]]]

_CANDIDATE: Final = np.dtype(
    [("id", np.int32), ("logit", np.float32), ("p", np.float32)]
)  # llama_token_data
_ROOM: Final = 2048  # tokens, at first


class Candidates:
    """Tokens that may come next. To make one takes longer than to use it, so that it is filled again and again."""

    def __init__(self) -> None:
        self._make(_ROOM)

    def fill(self, ids: Tokens, logits: Logits) -> None:
        """Hold `ids` with their `logits`, in place of what was there."""
        size = len(ids)
        if size > len(self._ids):
            self._make(2 * size)
        self._ids[:size] = ids
        self._logits[:size] = logits
        array = self._array
        array.data, array.size, array.selected, array.sorted = self._start, size, -1, False
        self._size = size

    def apply(self, sampler: Any) -> None:
        """Have a native sampler, or a chain of them, change the logits or draw."""
        lib.llama_sampler_apply(sampler, self._pointer)

    def drop_impossible(self) -> bool:
        """Leave those out that a grammar refused; whether any is left."""
        possible = np.isfinite(self._logits[: self._size])
        self.fill(self._ids[: self._size][possible], self._logits[: self._size][possible])
        return self._size > 0

    @property
    def best(self) -> float:
        """The highest logit. Before anything is cut or drawn."""
        return float(self._logits[: self._size].max())

    @property
    def drawn(self) -> int:
        """The token that a sampler drew."""
        return int(self._array.data[self._array.selected].id)

    def _make(self, room: int) -> None:
        self._all = np.zeros(room, _CANDIDATE)
        self._ids, self._logits = self._all["id"], self._all["logit"]
        self._size = 0
        self._start: Any = ctypes.cast(self._all.ctypes.data, ctypes.POINTER(lib.llama_token_data))
        self._array: Any = lib.llama_token_data_array(self._start, 0, -1, False)
        self._pointer = ctypes.pointer(self._array)
